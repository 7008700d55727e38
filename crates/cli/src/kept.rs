//! Finding runs and trials in the store.

use crate::files;
use model::{RunRecord, Score, Transcript, did_you_mean};
use std::path::Path;
use store::Store;

/// A stored run.
#[derive(Debug)]
pub(crate) struct KeptRun {
    pub id: String,
    pub at: String,
    pub record: RunRecord,
}

/// One trial of a stored run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Found<'r> {
    pub run: &'r str,
    pub seed: Option<u64>,
    pub transcript: &'r Transcript,
    pub scores: &'r [Score],
}

impl KeptRun {
    /// Enough of the id to tell runs apart on a screen.
    pub(crate) fn short(&self) -> &str {
        short(&self.id)
    }

    /// The trials of a case, or the one trial whose id begins like this.
    pub(crate) fn trials(&self, what: &str) -> Result<Vec<Found<'_>>, String> {
        let all = || self.record.transcripts.iter().zip(&self.record.scores);
        let found = |(transcript, scores): (&'_ Transcript, &'_ model::TrialScores)| -> bool {
            scores.trial == transcript.trial && (transcript.case == what || is_beginning(transcript.trial.as_str(), what))
        };
        let trials: Vec<Found<'_>> = all()
            .filter(|pair| found(*pair))
            .map(|(transcript, scores)| Found {
                run: self.short(),
                seed: self.record.plan.trials.iter().find(|trial| trial.id == transcript.trial).map(|trial| trial.seed),
                transcript,
                scores: &scores.scores,
            })
            .collect();
        if trials.is_empty() {
            let guess = did_you_mean(what, self.record.transcripts.iter().map(|transcript| transcript.case.as_str()));
            return Err(format!("run {} has no case or trial \"{what}\"  {guess}", self.short()).trim_end().to_owned());
        }
        Ok(trials)
    }

    /// The first of them.
    pub(crate) fn trial(&self, what: &str) -> Result<Found<'_>, String> {
        self.trials(what).map(|trials| trials[0])
    }
}

fn short(id: &str) -> &str {
    id.get(..12).unwrap_or(id)
}

/// Fewer than four letters of an id are a coincidence.
fn is_beginning(id: &str, part: &str) -> bool {
    part.len() >= 4 && id.starts_with(part)
}

/// A run by the beginning of its id, or the last one kept.
pub(crate) fn run(path: &Path, wanted: Option<&str>) -> Result<KeptRun, String> {
    // Opening a store creates it; looking into one must not.
    if !files::exists(path) {
        return Err(format!("no run has been kept in {}  `bardo-eval run` keeps one, --store names another file", path.display()));
    }
    let store = Store::open(path).map_err(|error| error.to_string())?;
    let runs = store.runs().map_err(|error| error.to_string())?;
    let fitting: Vec<&store::Kept> = runs.iter().filter(|run| wanted.is_none_or(|wanted| is_beginning(&run.id, wanted))).collect();
    let chosen = match (fitting.as_slice(), wanted) {
        ([], None) => return Err(format!("{} holds no run  `bardo-eval run` keeps one", path.display())),
        ([], Some(wanted)) => {
            let last: Vec<&str> = runs.iter().take(3).map(|run| short(&run.id)).collect();
            return Err(format!("there is no run \"{wanted}\"  the last ones are {}", last.join(", ")));
        }
        ([_, _, ..], Some(wanted)) => return Err(format!("{} runs begin with \"{wanted}\"  write more of the id", fitting.len())),
        ([only], Some(_)) => only,
        ([last, ..], None) => last,
    };
    let record = store.load(&chosen.id).map_err(|error| error.to_string())?;
    let record = record.ok_or_else(|| format!("run {} is gone", short(&chosen.id)))?;
    Ok(KeptRun { id: chosen.id.clone(), at: chosen.at.clone(), record })
}
