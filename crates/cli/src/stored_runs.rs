//! Finds runs and trials in the store.

use crate::files;
use campaign::open_store;
use model::{RunRecord, Score, Transcript, UserError, did_you_mean};
use std::path::Path;
use store::{Store, StoredRun};

/// Stored run with its record.
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
    /// Returns the short form of the run id.
    pub(crate) fn short_id(&self) -> &str {
        self.run.short_id()
    }

    /// Returns the trials of a case, or those whose id starts with `what`.
    ///
    /// # Errors
    /// If there are none.
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

    /// Returns the first trial of [`Self::find_trials`].
    pub(crate) fn find_trial(&self, what: &str) -> Result<LoadedTrial<'_>, UserError> {
        self.find_trials(what).map(|trials| trials[0])
    }
}

/// Compares an id with a prefix of at least four characters; shorter ones match by accident.
fn is_id_prefix(id: &str, part: &str) -> bool {
    part.len() >= 4 && id.starts_with(part)
}

/// Loads a run by prefix of its id or record hash, or the last one.
pub(crate) fn load_run(path: &Path, wanted: Option<&str>) -> Result<LoadedRun, UserError> {
    let (store, run) = find_run(path, wanted)?;
    let record = store.record(&run)?;
    Ok(LoadedRun { run, record })
}

/// Like [`load_run`], without the record.
pub(crate) fn find_run(path: &Path, wanted: Option<&str>) -> Result<(Store, StoredRun), UserError> {
    let store = open_existing_store(path)?;
    let runs = store.runs()?;
    let chosen = choose_run(path, &runs, wanted)?.clone();
    Ok((store, chosen))
}

/// Finds the run to resume: the named one, or the last one that is not complete.
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
    // Opening would create a missing store; reading must not.
    if !files::exists(path) {
        let what = format!("no runs in {}", path.display());
        return Err(UserError::new(what, "start one with `bardo-eval run`, or name another file with --store"));
    }
    Ok(open_store(path)?)
}

fn choose_run<'r>(path: &Path, runs: &'r [StoredRun], wanted: Option<&str>) -> Result<&'r StoredRun, UserError> {
    let named = |run: &&StoredRun| wanted.is_none_or(|wanted| wanted.len() >= 4 && run.matches_prefix(wanted));
    let fitting: Vec<&StoredRun> = runs.iter().filter(named).collect();
    match (fitting.as_slice(), wanted) {
        ([], None) => Err(UserError::new(format!("no runs in {}", path.display()), "start one with `bardo-eval run`")),
        ([], Some(wanted)) => {
            let last: Vec<&str> = runs.iter().take(3).map(StoredRun::short_id).collect();
            Err(UserError::new(format!("there is no run \"{wanted}\""), format!("the last ones are {}", last.join(", "))))
        }
        // Runs with the same record are interchangeable.
        ([first, others @ ..], Some(wanted)) if others.iter().any(|other| other.record.is_none() || other.record != first.record) => {
            Err(UserError::new(format!("{} run ids start with \"{wanted}\"", fitting.len()), "use a longer prefix"))
        }
        ([first, ..], Some(_) | None) => Ok(first),
    }
}
