//! Finding runs and trials in the store.

use crate::files;
use campaign::open_store;
use model::{RunRecord, Score, Transcript, UserError, did_you_mean};
use std::path::Path;
use store::{Store, StoredRun};

/// A stored run.
#[derive(Debug)]
pub(crate) struct LoadedRun {
    pub run: StoredRun,
    pub record: RunRecord,
}

/// One trial of a stored run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LoadedTrial<'r> {
    pub run: &'r str,
    pub seed: Option<u64>,
    pub transcript: &'r Transcript,
    pub scores: &'r [Score],
}

impl LoadedRun {
    /// Enough of the id to tell runs apart on a screen.
    pub(crate) fn short_id(&self) -> &str {
        self.run.short_id()
    }

    /// The trials of a case, or the one trial whose id begins like this.
    pub(crate) fn find_trials(&self, what: &str) -> Result<Vec<LoadedTrial<'_>>, UserError> {
        let all = || self.record.transcripts.iter().zip(&self.record.scores);
        let found = |(transcript, scores): (&'_ Transcript, &'_ model::TrialScores)| -> bool {
            scores.trial == transcript.trial && (transcript.case == what || is_id_prefix(transcript.trial.as_str(), what))
        };
        let trials: Vec<LoadedTrial<'_>> = all()
            .filter(|pair| found(*pair))
            .map(|(transcript, scores)| LoadedTrial {
                run: self.short_id(),
                seed: self.record.plan.trials.iter().find(|trial| trial.id == transcript.trial).map(|trial| trial.seed),
                transcript,
                scores: &scores.scores,
            })
            .collect();
        if trials.is_empty() {
            let guess = did_you_mean(what, self.record.transcripts.iter().map(|transcript| transcript.case.as_str()));
            return Err(UserError::new(format!("run {} has no case or trial \"{what}\"", self.short_id()), guess));
        }
        Ok(trials)
    }

    /// The first of them.
    pub(crate) fn find_trial(&self, what: &str) -> Result<LoadedTrial<'_>, UserError> {
        self.find_trials(what).map(|trials| trials[0])
    }
}

/// Fewer than four letters of an id are a coincidence.
fn is_id_prefix(id: &str, part: &str) -> bool {
    part.len() >= 4 && id.starts_with(part)
}

/// A run by the beginning of its id or of its record's, or the last one begun.
pub(crate) fn load_run(path: &Path, wanted: Option<&str>) -> Result<LoadedRun, UserError> {
    let (store, run) = find_run(path, wanted)?;
    let record = store.record(&run)?;
    Ok(LoadedRun { run, record })
}

/// The same without its trials.
pub(crate) fn find_run(path: &Path, wanted: Option<&str>) -> Result<(Store, StoredRun), UserError> {
    let store = open_existing_store(path)?;
    let runs = store.runs()?;
    let chosen = choose_run(path, &runs, wanted)?.clone();
    Ok((store, chosen))
}

/// The run that is to be resumed: the last one that is not complete, unless another is named.
pub(crate) fn find_unfinished_run(path: &Path, wanted: Option<&str>) -> Result<(Store, StoredRun), UserError> {
    if wanted.is_some() {
        return find_run(path, wanted);
    }
    let store = open_existing_store(path)?;
    let runs = store.runs()?;
    let unfinished = runs.into_iter().find(|run| run.record.is_none());
    let complete = || UserError::new(format!("every run in {} is complete", path.display()), "there is nothing to resume");
    let unfinished = unfinished.ok_or_else(complete)?;
    Ok((store, unfinished))
}

pub(crate) fn list_runs(path: &Path) -> Result<Vec<StoredRun>, UserError> {
    Ok(open_existing_store(path)?.runs()?)
}

fn open_existing_store(path: &Path) -> Result<Store, UserError> {
    // Opening a store creates it; looking into one must not.
    if !files::exists(path) {
        let what = format!("no run has been kept in {}", path.display());
        return Err(UserError::new(what, "`bardo-eval run` keeps one, --store names another file"));
    }
    Ok(open_store(path)?)
}

fn choose_run<'r>(path: &Path, runs: &'r [StoredRun], wanted: Option<&str>) -> Result<&'r StoredRun, UserError> {
    let named = |run: &&StoredRun| wanted.is_none_or(|wanted| wanted.len() >= 4 && run.matches_prefix(wanted));
    let fitting: Vec<&StoredRun> = runs.iter().filter(named).collect();
    match (fitting.as_slice(), wanted) {
        ([], None) => Err(UserError::new(format!("{} holds no run", path.display()), "`bardo-eval run` keeps one")),
        ([], Some(wanted)) => {
            let last: Vec<&str> = runs.iter().take(3).map(StoredRun::short_id).collect();
            Err(UserError::new(format!("there is no run \"{wanted}\""), format!("the last ones are {}", last.join(", "))))
        }
        // Runs with one record are the same run for whoever looks at it.
        ([first, others @ ..], Some(wanted)) if others.iter().any(|other| other.record.is_none() || other.record != first.record) => {
            Err(UserError::new(format!("{} runs begin with \"{wanted}\"", fitting.len()), "write more of the id"))
        }
        ([first, ..], Some(_) | None) => Ok(first),
    }
}
