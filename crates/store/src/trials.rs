//! Trials that ended, and counters of a run. A trial counts as ended once its row is committed.

use crate::agent_output::{AgentOutput, replace_output};
use crate::{Store, StoreError};
use model::transcript::SerializedTranscript;
use model::{CaseOutcome, ContentHash, Ending, Score, Trial};
use rusqlite::{Connection, Row, params};
use serde::de::DeserializeOwned;
use std::ops::Range;

/// Trial to be written to the store.
#[derive(Debug, Clone)]
pub struct TrialRow {
    pub run: i64,
    /// Position in the plan.
    pub n: u64,
    pub trial: Trial,
    pub outcome: CaseOutcome,
    pub wall_us: u64,
    pub transcript: SerializedTranscript,
    /// Result of [`model::scores_to_json`].
    pub scores: String,
    /// Output of an external agent, if it had any.
    pub output: Option<AgentOutput>,
}

/// Stored trial without its events.
#[derive(Debug, Clone)]
pub struct EndedTrial {
    pub n: u64,
    pub trial: Trial,
    pub content_hash: ContentHash,
    pub ending: Ending,
    pub scores: Vec<Score>,
    /// Hash of the scores as stored.
    pub scores_hash: ContentHash,
    pub wall_us: u64,
}

impl Store {
    /// Stores a trial, replacing an earlier row of the same trial. Aborted trials are run again.
    pub fn add_trial(&self, row: &TrialRow) -> Result<(), StoreError> {
        insert_trial(&self.connection, row)
    }

    /// Removes the trials from this position on: a run that stops early keeps no trial that only its speed has let it run.
    pub fn remove_trials_from(&self, run: i64, n: u64) -> Result<(), StoreError> {
        for table in ["trials", "agent_output"] {
            self.connection.execute(&format!("DELETE FROM {table} WHERE run = ?1 AND n >= ?2"), params![run, n])?;
        }
        Ok(())
    }

    /// Calls `take` with every trial that ended, in plan order.
    pub fn for_each_ended(&self, run: i64, take: impl FnMut(EndedTrial)) -> Result<(), StoreError> {
        self.for_each_ended_within(run, 0..i64::MAX as u64, take)
    }

    /// Like [`Store::for_each_ended`], limited to a range of positions in the plan.
    pub fn for_each_ended_within(&self, run: i64, positions: Range<u64>, mut take: impl FnMut(EndedTrial)) -> Result<(), StoreError> {
        let mut rows = self.connection.prepare_cached(
            "SELECT n, trial, case_id, subject, seed, content, how, scores, wall_us FROM trials WHERE run = ?1 AND n >= ?2 AND n < ?3 ORDER BY n",
        )?;
        let mut rows = rows.query(params![run, positions.start, positions.end])?;
        while let Some(row) = rows.next()? {
            let scores: String = row.get(7)?;
            take(EndedTrial {
                n: row.get(0)?,
                trial: read_trial(row)?,
                content_hash: parse_hash(run, &row.get::<_, String>(5)?)?,
                ending: parse_json(run, &row.get::<_, String>(6)?)?,
                scores: parse_json(run, &scores)?,
                scores_hash: ContentHash::of_text(&scores),
                wall_us: row.get(8)?,
            });
        }
        Ok(())
    }

    /// Adds to a counter that is not part of the record, such as cache hits or retried calls.
    pub fn add_telemetry(&self, run: i64, what: &str, n: u64) -> Result<(), StoreError> {
        let sql = "INSERT INTO telemetry (run, what, n) VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET n = n + excluded.n";
        self.connection.prepare_cached(sql)?.execute(params![run, what, n])?;
        Ok(())
    }

    /// Returns the counters of a run, sorted by name.
    pub fn telemetry(&self, run: i64) -> Result<Vec<(String, u64)>, StoreError> {
        let mut rows = self.connection.prepare("SELECT what, n FROM telemetry WHERE run = ?1 ORDER BY what")?;
        let counts = rows.query_map([run], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(counts.collect::<Result<_, _>>()?)
    }
}

pub(crate) fn insert_trial(connection: &Connection, row: &TrialRow) -> Result<(), StoreError> {
    let TrialRow { run, n, trial, outcome, wall_us, transcript: written, scores, output } = row;
    let sql = "INSERT OR REPLACE INTO trials (run, n, trial, case_id, subject, seed, passed, content, wall_us, how, scores, events)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";
    connection.prepare_cached(sql)?.execute(params![
        run,
        n,
        trial.id.as_str(),
        trial.case,
        trial.subject,
        trial.seed,
        passed_column(*outcome),
        written.content_hash.as_str(),
        wall_us,
        written.ending,
        scores,
        written.events
    ])?;
    replace_output(connection, (*run, *n), output.as_ref())
}

/// Returns the column `passed`: 1, 0, or NULL without a verdict.
fn passed_column(outcome: CaseOutcome) -> Option<i64> {
    match outcome {
        CaseOutcome::Passed => Some(1),
        CaseOutcome::Failed => Some(0),
        CaseOutcome::Unjudged | CaseOutcome::Aborted { .. } => None,
    }
}

pub(crate) fn read_trial(row: &Row<'_>) -> Result<Trial, StoreError> {
    let id: String = row.get(1)?;
    let id = ContentHash::parse(&id).ok_or_else(|| StoreError::unreadable(&id, &"the trial id is not a hash"))?;
    Ok(Trial { id, case: row.get(2)?, subject: row.get(3)?, seed: row.get(4)? })
}

fn parse_hash(run: i64, text: &str) -> Result<ContentHash, StoreError> {
    ContentHash::parse(text).ok_or_else(|| StoreError::unreadable(&run.to_string(), &format!("\"{text}\" is not a hash")))
}

pub(crate) fn parse_json<T: DeserializeOwned>(run: i64, json: &str) -> Result<T, StoreError> {
    serde_json::from_str(json).map_err(|error| StoreError::unreadable(&run.to_string(), &error))
}
