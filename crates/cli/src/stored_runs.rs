//! Finds runs and trials in the store.

use crate::io::CliOutput;
use crate::shell::shell_quoted;
use campaign::{RunSpec, open_existing_store};
use model::{ContentHash, Score, SuiteKind, Transcript, UserError, nearest_name};
use store::{AgentOutput, Store, StoreLocation, StoredRun, TrialMatches, TrialPosition};

/// Stored run whose trials are read one by one.
#[derive(Debug)]
pub(crate) struct OpenedRun {
    pub store: Store,
    pub run: StoredRun,
}

/// One trial of a stored run.
#[derive(Debug)]
pub(crate) struct LoadedTrial {
    /// Short id of the run.
    pub run: String,
    pub seed: u64,
    pub transcript: Transcript,
    pub scores: Vec<Score>,
    /// Output of an external agent.
    pub output: Option<AgentOutput>,
}

/// Other runs searched for a case that the named run lacks.
const MAX_RUNS_SEARCHED: usize = 50;

/// Trials listed besides the one that is shown.
const MAX_OTHERS: usize = 100;

/// Trials that match a name: the first ones, and the number of all.
#[derive(Debug)]
pub(crate) struct FoundTrials {
    first: TrialPosition,
    others: Vec<TrialPosition>,
    count: usize,
}

impl FoundTrials {
    /// Returns the short ids of the other trials, as far as they are listed.
    pub(crate) fn other_ids(&self) -> OtherTrials {
        OtherTrials { ids: self.others.iter().map(|one| one.id.short().to_owned()).collect(), count: self.count - 1 }
    }
}

/// Further trials of the same case: the first ids, and the number of all.
#[derive(Debug)]
pub(crate) struct OtherTrials {
    pub ids: Vec<String>,
    pub count: usize,
}

impl OpenedRun {
    /// Returns the short form of the run id, as lists and comparisons print it. The hash of the record names the run, too.
    pub(crate) fn short_id(&self) -> &str {
        self.run.short_run_id()
    }

    /// Returns the version of the workspace that the run was planned from, if it had one.
    pub(crate) fn workspace_version(&self) -> Option<u64> {
        self.run.plan.as_ref().and_then(|plan| plan.workspace_version)
    }

    /// Finds the trials of a case, or those whose id starts with `what`. Reads no events.
    ///
    /// # Errors
    /// If there are none.
    pub(crate) fn find_trials(&self, what: &str) -> Result<FoundTrials, UserError> {
        // Shorter prefixes match by accident.
        let id_prefix = Some(what).filter(|what| what.len() >= 4);
        let TrialMatches { first, count } = self.store.find_trials(self.run.run, what, id_prefix, MAX_OTHERS + 1)?;
        let mut found = first.into_iter();
        let Some(first) = found.next() else {
            let remedy = match self.other_run_with(what)? {
                Some(run) => format!("run {run} has it: add --run {run}"),
                None => {
                    let cases = self.store.cases_of_run(self.run.run)?;
                    match nearest_name(what, cases.iter().map(String::as_str)) {
                        Some(best) => format!("did you mean \"{best}\"?"),
                        None => format!("it has {}; `bardo-eval runs list` lists other runs", model::count(cases.len(), "case")),
                    }
                }
            };
            return Err(UserError::new(format!("run {} has no case or trial \"{what}\"", self.short_id()), remedy));
        };
        Ok(FoundTrials { first, others: found.collect(), count })
    }

    /// Returns the newest other run with this case or trial.
    fn other_run_with(&self, what: &str) -> Result<Option<String>, UserError> {
        let id_prefix = Some(what).filter(|what| what.len() >= 4);
        for run in self.store.runs()?.iter().filter(|run| run.run != self.run.run).take(MAX_RUNS_SEARCHED) {
            if self.store.find_trials(run.run, what, id_prefix, 1)?.count > 0 {
                return Ok(Some(run.short_run_id().to_owned()));
            }
        }
        Ok(None)
    }

    /// Reads the first trial of [`Self::find_trials`].
    pub(crate) fn find_trial(&self, what: &str) -> Result<LoadedTrial, UserError> {
        self.read_first(&self.find_trials(what)?)
    }

    pub(crate) fn read_first(&self, found: &FoundTrials) -> Result<LoadedTrial, UserError> {
        self.read_trial(&found.first)
    }

    /// Reads the first trial that is not `id`, if there is one.
    pub(crate) fn read_first_other_than(&self, found: &FoundTrials, id: &ContentHash) -> Result<Option<LoadedTrial>, UserError> {
        let other = std::iter::once(&found.first).chain(&found.others).find(|one| one.id != *id);
        other.map(|other| self.read_trial(other)).transpose()
    }

    fn read_trial(&self, position: &TrialPosition) -> Result<LoadedTrial, UserError> {
        let removed = || UserError::without_remedy(format!("trial {} was removed", position.id.short()));
        let (trial, transcript, scores) = self.store.read_transcript(self.run.run, position.n)?.ok_or_else(removed)?;
        let output = self.store.agent_output(self.run.run, position.n)?;
        Ok(LoadedTrial { run: self.short_id().to_owned(), seed: trial.seed, transcript, scores, output })
    }
}

/// Returns the config of another framework that a run is of.
pub(crate) fn config_of(run: &StoredRun) -> Option<String> {
    let settings: serde_json::Value = serde_json::from_str(&run.settings).ok()?;
    settings.get("config")?.as_str().map(str::to_owned)
}

/// Returns that trials of a run have not run, with the command that resumes it; `None` if it is over, or cannot be resumed.
pub(crate) fn unfinished_note(io: &CliOutput, run: &StoredRun, store_flag: &str) -> Option<String> {
    run.plan.as_ref().filter(|_| run.record.is_none())?;
    let (id, done) = (run.short_run_id(), run.finished.saturating_sub(run.aborted));
    let resume = match config_of(run) {
        Some(config) => format!("bardo-eval run {} --resume {id}{store_flag}", shell_quoted(&config)),
        None => format!("bardo-eval run --resume {id}{}{store_flag}", io.workspace_flag()),
    };
    Some(format!("run {id} is unfinished: {done} of {}; resume with: {resume}", model::count(run.planned, "trial")))
}

/// Opens a run by prefix of its id or record hash, or the last one.
pub(crate) fn open_run(location: &StoreLocation, wanted: Option<&str>) -> Result<OpenedRun, UserError> {
    let (store, run) = find_run(location, wanted)?;
    store.check_format(&run)?;
    Ok(OpenedRun { store, run })
}

/// Like [`open_run`], but the last one is the last one with cases of suites: attacks have no baseline.
pub(crate) fn open_run_of_cases(location: &StoreLocation, wanted: Option<&str>) -> Result<OpenedRun, UserError> {
    if wanted.is_some() {
        return open_run(location, wanted);
    }
    let store = open_store(location)?;
    let last = store.runs()?.into_iter().find(|run| !is_of_attacks(run));
    let absent = || UserError::new(format!("no run of cases in {location}"), "start one with `bardo-eval run`");
    let run = last.ok_or_else(absent)?;
    store.check_format(&run)?;
    Ok(OpenedRun { store, run })
}

/// Returns whether a run played attacks only.
fn is_of_attacks(run: &StoredRun) -> bool {
    let settings = RunSpec::from_stored(&run.settings, None, None).map(|spec| spec.settings.suites);
    let is_attack = |suite: &String| suite.split('/').next() == Some(SuiteKind::RedTeam.word());
    settings.is_ok_and(|suites| !suites.is_empty() && suites.iter().all(is_attack))
}

/// Like [`open_run`], also for runs whose trials this version cannot read.
pub(crate) fn find_run(location: &StoreLocation, wanted: Option<&str>) -> Result<(Store, StoredRun), UserError> {
    let store = open_store(location)?;
    let runs = store.runs()?;
    let chosen = choose_run(location, &runs, wanted)?.clone();
    Ok((store, chosen))
}

/// Like [`find_run`], but refuses a prefix that several runs share, also if their records are the same.
pub(crate) fn find_only_run(location: &StoreLocation, wanted: &str) -> Result<(Store, StoredRun), UserError> {
    let store = open_store(location)?;
    let runs = store.runs()?;
    let fitting: Vec<&str> = runs.iter().filter(|run| run.matches_prefix(wanted)).map(StoredRun::short_run_id).collect();
    if fitting.len() > 1 && wanted.len() >= 4 {
        let what = format!("{} have the id \"{wanted}\" or a record of that hash", model::count(fitting.len(), "run"));
        return Err(UserError::new(what, format!("name one of {}", fitting.join(", "))));
    }
    let chosen = choose_run(location, &runs, Some(wanted))?.clone();
    Ok((store, chosen))
}

/// Finds the run to resume: the named one, or the last one that is not complete.
pub(crate) fn find_unfinished_run(location: &StoreLocation, wanted: Option<&str>) -> Result<(Store, StoredRun), UserError> {
    if wanted.is_some() {
        return find_run(location, wanted);
    }
    let store = open_store(location)?;
    let runs = store.runs()?;
    let unfinished = runs.into_iter().find(|run| run.record.is_none());
    let complete = || UserError::new(format!("every run in {} is complete", location), "there is nothing to resume");
    let unfinished = unfinished.ok_or_else(complete)?;
    Ok((store, unfinished))
}

/// Returns all runs; their plans lack the cases.
pub(crate) fn list_runs(location: &StoreLocation) -> Result<Vec<StoredRun>, UserError> {
    Ok(open_store(location)?.listed_runs()?)
}

/// Fails if there is no store, or it cannot be opened. Does not count the trials of its runs.
pub(crate) fn check_store(location: &StoreLocation) -> Result<(), UserError> {
    open_store(location).map(drop)
}

fn open_store(location: &StoreLocation) -> Result<Store, UserError> {
    // Opening would create a missing store; reading must not.
    let missing = || {
        let what = format!("no runs in {location}");
        UserError::new(what, "start one with `bardo-eval run`, or name another store with --store")
    };
    open_existing_store(location)?.ok_or_else(missing)
}

fn choose_run<'r>(location: &StoreLocation, runs: &'r [StoredRun], wanted: Option<&str>) -> Result<&'r StoredRun, UserError> {
    let named = |run: &&StoredRun| wanted.is_none_or(|wanted| wanted.len() >= 4 && run.matches_prefix(wanted));
    let fitting: Vec<&StoredRun> = runs.iter().filter(named).collect();
    match (fitting.as_slice(), wanted) {
        ([], None) => Err(UserError::new(format!("no runs in {}", location), "start one with `bardo-eval run`")),
        ([], Some(wanted)) => {
            let last: Vec<&str> = runs.iter().take(3).map(StoredRun::short_run_id).collect();
            Err(UserError::new(format!("there is no run \"{wanted}\""), format!("the last ones are {}", last.join(", "))))
        }
        // Runs with the same record are interchangeable.
        ([first, others @ ..], Some(wanted)) if others.iter().any(|other| other.record.is_none() || other.record != first.record) => {
            Err(UserError::new(format!("{} run ids start with \"{wanted}\"", fitting.len()), "use a longer prefix"))
        }
        ([first, ..], Some(_) | None) => Ok(first),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::RunClaim;

    fn run(id: &str) -> StoredRun {
        StoredRun {
            run: 1,
            id: id.to_owned(),
            started: String::new(),
            ended: None,
            format: 1,
            workspace: ContentHash::of_text("workspace"),
            claim: RunClaim::default(),
            settings: String::new(),
            plan: None,
            planned: 1,
            budget: None,
            record: Some(ContentHash::of_text("record")),
            finished: 1,
            passed: 1,
            aborted: 0,
            spent: 0,
            subjects: vec![],
        }
    }

    #[test]
    fn suggested_runs_are_named_by_their_own_id() {
        let location = StoreLocation::File("store.sqlite".into());
        let runs = [run("aaaaaaaaaaaa0000"), run("bbbbbbbbbbbb0000")];
        let why = choose_run(&location, &runs, Some("9999")).expect_err("no such run");
        assert_eq!(why.remedy, "the last ones are aaaaaaaaaaaa, bbbbbbbbbbbb", "their records are the same");
    }
}
