//! Finding runs and trials in the store.

use crate::files;
use campaign::open_store;
use model::{RunRecord, Score, Transcript, UserError, did_you_mean};
use std::path::Path;
use store::{Run, Store};

/// A stored run.
#[derive(Debug)]
pub(crate) struct KeptRun {
    pub run: Run,
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
        self.run.short()
    }

    /// The trials of a case, or the one trial whose id begins like this.
    pub(crate) fn trials(&self, what: &str) -> Result<Vec<Found<'_>>, UserError> {
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
            return Err(UserError::new(format!("run {} has no case or trial \"{what}\"", self.short()), guess));
        }
        Ok(trials)
    }

    /// The first of them.
    pub(crate) fn trial(&self, what: &str) -> Result<Found<'_>, UserError> {
        self.trials(what).map(|trials| trials[0])
    }
}

/// Fewer than four letters of an id are a coincidence.
fn is_beginning(id: &str, part: &str) -> bool {
    part.len() >= 4 && id.starts_with(part)
}

/// A run by the beginning of its id or of its record's, or the last one begun.
pub(crate) fn run(path: &Path, wanted: Option<&str>) -> Result<KeptRun, UserError> {
    let (store, run) = find(path, wanted)?;
    let record = store.record(&run)?;
    Ok(KeptRun { run, record })
}

/// The same without its trials.
pub(crate) fn find(path: &Path, wanted: Option<&str>) -> Result<(Store, Run), UserError> {
    let store = open(path)?;
    let runs = store.runs()?;
    let chosen = choose(path, &runs, wanted)?.clone();
    Ok((store, chosen))
}

/// The run that is to be resumed: the last one that is not complete, unless another is named.
pub(crate) fn unfinished(path: &Path, wanted: Option<&str>) -> Result<(Store, Run), UserError> {
    if wanted.is_some() {
        return find(path, wanted);
    }
    let store = open(path)?;
    let runs = store.runs()?;
    let unfinished = runs.into_iter().find(|run| run.record.is_none());
    let complete = || UserError::new(format!("every run in {} is complete", path.display()), "there is nothing to resume");
    let unfinished = unfinished.ok_or_else(complete)?;
    Ok((store, unfinished))
}

pub(crate) fn all(path: &Path) -> Result<Vec<Run>, UserError> {
    Ok(open(path)?.runs()?)
}

fn open(path: &Path) -> Result<Store, UserError> {
    // Opening a store creates it; looking into one must not.
    if !files::exists(path) {
        let what = format!("no run has been kept in {}", path.display());
        return Err(UserError::new(what, "`bardo-eval run` keeps one, --store names another file"));
    }
    Ok(open_store(path)?)
}

fn choose<'r>(path: &Path, runs: &'r [Run], wanted: Option<&str>) -> Result<&'r Run, UserError> {
    let named = |run: &&Run| wanted.is_none_or(|wanted| wanted.len() >= 4 && run.is_named(wanted));
    let fitting: Vec<&Run> = runs.iter().filter(named).collect();
    match (fitting.as_slice(), wanted) {
        ([], None) => Err(UserError::new(format!("{} holds no run", path.display()), "`bardo-eval run` keeps one")),
        ([], Some(wanted)) => {
            let last: Vec<&str> = runs.iter().take(3).map(Run::short).collect();
            Err(UserError::new(format!("there is no run \"{wanted}\""), format!("the last ones are {}", last.join(", "))))
        }
        // Runs with one record are the same run for whoever looks at it.
        ([first, others @ ..], Some(wanted)) if others.iter().any(|other| other.record.is_none() || other.record != first.record) => {
            Err(UserError::new(format!("{} runs begin with \"{wanted}\"", fitting.len()), "write more of the id"))
        }
        ([first, ..], Some(_) | None) => Ok(first),
    }
}
