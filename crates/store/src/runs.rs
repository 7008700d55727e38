//! Runs: begin, complete, list, find and remove.

use crate::{Store, StoreError};
use model::{ContentHash, GateVerdicts, Plan, PlanOutline, RECORD_FORMAT, RunClaim, RunRecord};
use rusqlite::{Connection, Row, params};

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
        id.get(..12).unwrap_or(id)
    }

    /// Returns the first 12 characters of the run id, which no other run has.
    pub fn short_run_id(&self) -> &str {
        self.id.get(..12).unwrap_or(&self.id)
    }

    /// Returns whether the run id or the record hash starts with `prefix`.
    pub fn matches_prefix(&self, prefix: &str) -> bool {
        self.id.starts_with(prefix) || self.record.as_ref().is_some_and(|record| record.as_str().starts_with(prefix))
    }
}

impl Store {
    /// Begins a run and returns its key.
    pub fn begin_run(&self, run: &NewRun<'_>) -> Result<i64, StoreError> {
        insert_run(&self.connection, run)
    }

    /// Stores the verdicts of a run. A record hash marks the run as complete at the time `at`.
    pub fn set_verdicts(&self, run: i64, verdicts: &GateVerdicts, record: Option<&ContentHash>, at: &str) -> Result<(), StoreError> {
        let verdicts = serde_json::to_string(verdicts).map_err(|error| StoreError::unreadable(&run.to_string(), &error))?;
        let record = record.map(ContentHash::as_str);
        let ended = record.map(|_| at);
        self.connection
            .execute("UPDATE runs SET verdicts = ?2, record = ?3, ended = ?4 WHERE run = ?1", params![run, verdicts, record, ended])?;
        Ok(())
    }

    /// Changes the budget of a run, in nano-dollars.
    pub fn set_budget(&self, run: i64, nanos: Option<u64>) -> Result<(), StoreError> {
        self.connection.execute("UPDATE runs SET budget = ?2 WHERE run = ?1", params![run, nanos])?;
        Ok(())
    }

    /// Returns all runs, the last one begun first. The order does not depend on the clock, which may jump.
    pub fn runs(&self) -> Result<Vec<StoredRun>, StoreError> {
        let mut rows = self.connection.prepare(&format!("{SELECT_RUNS} ORDER BY run DESC"))?;
        let mut rows = rows.query([])?;
        let mut runs = vec![];
        while let Some(row) = rows.next()? {
            runs.push(read_run(row)?);
        }
        Ok(runs)
    }

    pub fn run(&self, run: i64) -> Result<Option<StoredRun>, StoreError> {
        let mut rows = self.connection.prepare(&format!("{SELECT_RUNS} WHERE run = ?1"))?;
        let mut rows = rows.query([run])?;
        rows.next()?.map(read_run).transpose()
    }

    /// Removes a run with its trials, output of agents, calls and counters.
    pub fn remove_run(&self, run: i64) -> Result<(), StoreError> {
        let transaction = self.connection.unchecked_transaction()?;
        for table in ["trials", "agent_output", "calls", "telemetry", "runs"] {
            transaction.execute(&format!("DELETE FROM {table} WHERE run = ?1"), [run])?;
        }
        Ok(transaction.commit()?)
    }

    /// Returns the space of removed runs to the file system. Not possible while another process uses the store; the space is then reused.
    pub fn shrink(&self) {
        drop(self.connection.execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE);"));
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
        let text: Option<String> = self.connection.query_row("SELECT verdicts FROM runs WHERE run = ?1", [run.run], |row| row.get(0))?;
        let Some(text) = text else { return Ok(GateVerdicts::default()) };
        serde_json::from_str(&text).map_err(|error| StoreError::unreadable(&run.id, &error))
    }
}

pub(crate) fn insert_run(connection: &Connection, run: &NewRun<'_>) -> Result<i64, StoreError> {
    let json = |text: serde_json::Result<String>| text.map_err(|error| StoreError::unreadable(run.id, &error));
    let claim = json(serde_json::to_string(run.claim))?;
    let plan = run.plan.map(|plan| json(serde_json::to_string(plan))).transpose()?;
    connection.execute(
        "INSERT INTO runs (id, started, format, workspace, claim, settings, plan, planned, budget) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        params![run.id, run.started, RECORD_FORMAT, run.workspace.as_str(), claim, run.settings, plan, run.planned, run.budget],
    )?;
    Ok(connection.last_insert_rowid())
}

pub(crate) const SELECT_RUNS: &str = "
    SELECT run, id, started, ended, format, workspace, claim, settings, plan, planned, budget, record,
        (SELECT count(*) FROM trials WHERE trials.run = runs.run),
        (SELECT count(*) FROM trials WHERE trials.run = runs.run AND passed),
        (SELECT CAST(min(total(lost + CASE state WHEN 'reserved' THEN ceiling ELSE cost END), 9e18) AS INTEGER) FROM calls WHERE calls.run = runs.run),
        (SELECT count(*) FROM trials WHERE trials.run = runs.run AND ending IN ('aborted', 'unfunded')),
        CASE WHEN plan IS NULL THEN
            (SELECT json_group_array(subject) FROM (SELECT subject FROM trials WHERE trials.run = runs.run GROUP BY subject ORDER BY min(n)))
        END
    FROM runs";

pub(crate) fn read_run(row: &Row<'_>) -> Result<StoredRun, StoreError> {
    let id: String = row.get(1)?;
    let wrong = |why: &dyn std::fmt::Display| StoreError::unreadable(&id, why);
    let hash = |text: &str| ContentHash::parse(text).ok_or_else(|| wrong(&format!("\"{text}\" is not a hash")));
    let (workspace, claim, plan): (String, String, Option<String>) = (row.get(5)?, row.get(6)?, row.get(8)?);
    let record: Option<String> = row.get(11)?;
    let plan: Option<PlanOutline> = plan.map(|plan| serde_json::from_str(&plan)).transpose().map_err(|error| wrong(&error))?;
    let subjects = match (&plan, row.get::<_, Option<String>>(16)?) {
        (Some(plan), _) => plan.subjects.iter().map(|planned| planned.subject.clone()).collect(),
        (None, Some(names)) => serde_json::from_str(&names).map_err(|error| wrong(&error))?,
        (None, None) => vec![],
    };
    Ok(StoredRun {
        run: row.get(0)?,
        started: row.get(2)?,
        ended: row.get(3)?,
        format: row.get(4)?,
        workspace: hash(&workspace)?,
        claim: serde_json::from_str(&claim).map_err(|error| wrong(&error))?,
        settings: row.get(7)?,
        plan,
        planned: row.get(9)?,
        budget: row.get(10)?,
        record: record.map(|record| hash(&record)).transpose()?,
        finished: row.get(12)?,
        passed: row.get(13)?,
        spent: row.get(14)?,
        aborted: row.get(15)?,
        subjects,
        id,
    })
}
