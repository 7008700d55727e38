//! Runs: begin, complete, list, find and remove.

use crate::selection::RunQuery;
use crate::{RunListing, Store, StoreError};
use model::{ContentHash, GateVerdicts, Plan, PlanOutline, RECORD_FORMAT, RunClaim, RunRecord};

/// Run to be written before its first trial.
#[derive(Debug, Clone, Copy)]
pub struct NewRun<'r> {
    pub id: &'r str,
    /// UTC, ISO 8601.
    pub started: &'r str,
    pub workspace: &'r ContentHash,
    pub claim: &'r RunClaim,
    /// Settings as JSON; opaque to the store, returned on resume.
    pub settings: &'r str,
    /// Absent for converted and rescored runs, whose stored trials are the plan.
    pub plan: Option<&'r PlanOutline>,
    pub planned: u64,
    /// Nano-dollars.
    pub budget: Option<u64>,
}

/// Stored run with its counters.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredRun {
    /// Key in the other tables.
    pub run: i64,
    pub id: String,
    pub started: String,
    /// Time of completion; absent while the run is incomplete.
    pub ended: Option<String>,
    pub format: u32,
    pub workspace: ContentHash,
    pub claim: RunClaim,
    pub settings: String,
    pub plan: Option<PlanOutline>,
    pub planned: u64,
    pub budget: Option<u64>,
    /// Hash of the record; absent while the run is incomplete.
    pub record: Option<ContentHash>,
    /// Number of trials that ended.
    pub finished: u64,
    /// Number of trials that passed.
    pub passed: u64,
    /// Number of trials that ended without evidence: aborted or not funded.
    pub aborted: u64,
    /// Nano-dollars. Calls under way count at their ceiling.
    pub spent: u64,
    /// Subjects of the plan; of the trials if there is no plan, as for a chat.
    pub subjects: Vec<String>,
}

impl StoredRun {
    /// Returns the first 12 characters of the record hash, or of the run id while there is no record.
    pub fn short_id(&self) -> &str {
        let id = self.record.as_ref().map_or(self.id.as_str(), ContentHash::as_str);
        model::short_id(id)
    }

    /// Returns the first 12 characters of the run id, which no other run has.
    pub fn short_run_id(&self) -> &str {
        model::short_id(&self.id)
    }

    /// Returns whether the run id or the record hash starts with `prefix`.
    pub fn matches_prefix(&self, prefix: &str) -> bool {
        self.id.starts_with(prefix) || self.record.as_ref().is_some_and(|record| record.as_str().starts_with(prefix))
    }
}

/// Columns of a run as an engine reads them.
#[derive(Debug)]
pub(crate) struct RunColumns {
    pub run: i64,
    pub id: String,
    pub started: String,
    pub ended: Option<String>,
    pub format: u32,
    pub workspace: String,
    /// JSON, as settings and plan are.
    pub claim: String,
    pub settings: String,
    pub plan: Option<String>,
    pub planned: u64,
    pub budget: Option<u64>,
    pub record: Option<String>,
    pub finished: u64,
    pub passed: u64,
    pub spent: u64,
    pub aborted: u64,
    /// Subjects in the order of their first trial, as JSON; absent if there is a plan.
    pub subjects: Option<String>,
}

impl RunColumns {
    pub(crate) fn parse(self) -> Result<StoredRun, StoreError> {
        let id = self.id;
        let wrong = |why: &dyn std::fmt::Display| StoreError::unreadable(&id, why);
        let hash = |text: &str| ContentHash::parse(text).ok_or_else(|| wrong(&format!("\"{text}\" is not a hash")));
        let plan: Option<PlanOutline> = self.plan.map(|plan| serde_json::from_str(&plan)).transpose().map_err(|error| wrong(&error))?;
        let subjects = match (&plan, self.subjects) {
            (Some(plan), _) => plan.subjects.iter().map(|planned| planned.subject.clone()).collect(),
            (None, Some(names)) => serde_json::from_str(&names).map_err(|error| wrong(&error))?,
            (None, None) => vec![],
        };
        Ok(StoredRun {
            run: self.run,
            started: self.started,
            ended: self.ended,
            format: self.format,
            workspace: hash(&self.workspace)?,
            claim: serde_json::from_str(&self.claim).map_err(|error| wrong(&error))?,
            settings: self.settings,
            plan,
            planned: self.planned,
            budget: self.budget,
            record: self.record.map(|record| hash(&record)).transpose()?,
            finished: self.finished,
            passed: self.passed,
            aborted: self.aborted,
            spent: self.spent,
            subjects,
            id,
        })
    }
}

impl NewRun<'_> {
    /// Returns claim and plan as JSON.
    pub(crate) fn to_json(self) -> Result<(String, Option<String>), StoreError> {
        let json = |text: serde_json::Result<String>| text.map_err(|error| StoreError::unreadable(self.id, &error));
        Ok((json(serde_json::to_string(self.claim))?, self.plan.map(|plan| json(serde_json::to_string(plan))).transpose()?))
    }
}

impl Store {
    /// Begins a run and returns its key.
    pub fn begin_run(&self, run: &NewRun<'_>) -> Result<i64, StoreError> {
        self.engine.begin_run(run)
    }

    /// Stores the verdicts of a run. A record hash marks the run as complete at the time `at`.
    pub fn set_verdicts(&self, run: i64, verdicts: &GateVerdicts, record: Option<&ContentHash>, at: &str) -> Result<(), StoreError> {
        let verdicts = serde_json::to_string(verdicts).map_err(|error| StoreError::unreadable(&run.to_string(), &error))?;
        let record = record.map(ContentHash::as_str);
        self.engine.set_verdicts(run, &verdicts, record, record.map(|_| at))
    }

    /// Changes the budget of a run, in nano-dollars.
    pub fn set_budget(&self, run: i64, nanos: Option<u64>) -> Result<(), StoreError> {
        self.engine.set_budget(run, nanos)
    }

    pub(crate) fn find_runs(&self, query: RunQuery<'_>) -> Result<Vec<StoredRun>, StoreError> {
        self.engine.find_runs(query)?.into_iter().map(RunColumns::parse).collect()
    }

    /// Returns all runs, the last one begun first. The order does not depend on the clock, which may jump.
    pub fn runs(&self) -> Result<Vec<StoredRun>, StoreError> {
        self.find_runs(RunQuery::All)
    }

    /// Returns all runs like [`Store::runs`], for lists: their plans lack the cases.
    pub fn listed_runs(&self) -> Result<Vec<StoredRun>, StoreError> {
        self.find_runs(RunQuery::Listed)
    }

    pub fn run(&self, run: i64) -> Result<Option<StoredRun>, StoreError> {
        Ok(self.find_runs(RunQuery::Key(run))?.pop())
    }

    /// Removes a run with its trials, output of agents, calls and counters.
    pub fn remove_run(&self, run: i64) -> Result<(), StoreError> {
        self.engine.remove_run(run)
    }

    /// Returns the space of removed runs to the file system. Not possible while another process uses the store; the space is then reused.
    pub fn shrink(&self) {
        self.engine.shrink();
    }

    /// Returns the whole run as one document, in memory: for small runs. Commands read row by row.
    ///
    /// # Errors
    ///
    /// Fails if the record has another format, or a stored value cannot be parsed.
    pub fn record(&self, run: &StoredRun) -> Result<RunRecord, StoreError> {
        self.check_format(run)?;
        let (mut trials, mut transcripts, mut scores) = (vec![], vec![], vec![]);
        self.for_each_transcript(run.run, |trial, transcript, scored| {
            trials.push(trial);
            transcripts.push(transcript);
            scores.push(scored);
        })?;
        let workspace_version = run.plan.as_ref().and_then(|plan| plan.workspace_version);
        let trials = run.plan.as_ref().map_or(trials, PlanOutline::trials);
        let GateVerdicts { judgements, out_of_scope } = self.verdicts(run)?;
        let plan = Plan { workspace: run.workspace.clone(), workspace_version, trials };
        Ok(RunRecord { format: RECORD_FORMAT, claim: run.claim, plan, transcripts, scores, judgements, out_of_scope })
    }

    /// Returns the verdicts of a run; empty before the first judgement.
    pub fn verdicts(&self, run: &StoredRun) -> Result<GateVerdicts, StoreError> {
        parse_verdicts(&run.id, self.engine.verdicts(run.run)?.as_deref())
    }

    /// Returns the verdicts of listed runs, in their order.
    pub fn verdicts_of_listed(&self, runs: &[RunListing]) -> Result<Vec<GateVerdicts>, StoreError> {
        let keys: Vec<i64> = runs.iter().map(|run| run.run).collect();
        let texts = self.engine.verdicts_by_run(&keys)?;
        runs.iter().map(|run| parse_verdicts(&run.id, texts.get(&run.run).map(String::as_str))).collect()
    }
}

fn parse_verdicts(run: &str, text: Option<&str>) -> Result<GateVerdicts, StoreError> {
    let Some(text) = text else { return Ok(GateVerdicts::default()) };
    serde_json::from_str(text).map_err(|error| StoreError::unreadable(run, &error))
}
