//! Counters of a run, read from its trials and calls.

use crate::{Store, StoreError};
use rusqlite::OptionalExtension;

/// Counters of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunCounts {
    pub planned: u64,
    /// Trials that ended, passed, and ended without evidence.
    pub finished: u64,
    pub passed: u64,
    pub aborted: u64,
    /// Nano-dollars. Calls under way count at their ceiling.
    pub spent: u64,
    pub subjects: Vec<String>,
}

/// Run and whether it is complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RunState {
    pub run: i64,
    pub id: String,
    pub is_complete: bool,
}

impl Store {
    /// Returns all runs, the last one begun first.
    pub(crate) fn run_states(&self) -> Result<Vec<RunState>, StoreError> {
        // `ended` is read instead of `record`, which comes after the plan in a row.
        let mut rows = self.connection.prepare_cached("SELECT run, id, ended IS NOT NULL FROM runs ORDER BY run DESC")?;
        let rows = rows.query_map([], |row| Ok(RunState { run: row.get(0)?, id: row.get(1)?, is_complete: row.get(2)? }))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Returns the id of a run.
    pub fn run_id(&self, run: i64) -> Result<Option<String>, StoreError> {
        Ok(self.connection.prepare_cached("SELECT id FROM runs WHERE run = ?1")?.query_row([run], |row| row.get(0)).optional()?)
    }

    /// Counts the trials and the cost of a run.
    pub fn run_counts(&self, run: i64) -> Result<RunCounts, StoreError> {
        let sql =
            "SELECT count(*), coalesce(sum(passed), 0), coalesce(sum(ending IN ('aborted', 'unfunded')), 0) FROM trials WHERE run = ?1";
        let (finished, passed, aborted) =
            self.connection.prepare_cached(sql)?.query_row([run], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        let sql = "SELECT CAST(min(total(lost + CASE state WHEN 'reserved' THEN ceiling ELSE cost END), 9e18) AS INTEGER) FROM calls WHERE run = ?1";
        let spent = self.connection.prepare_cached(sql)?.query_row([run], |row| row.get(0))?;
        let sql = "SELECT planned, CASE WHEN plan IS NULL
            THEN (SELECT json_group_array(subject) FROM (SELECT subject FROM trials WHERE trials.run = runs.run GROUP BY subject ORDER BY min(n)))
            ELSE (SELECT json_group_array(value ->> '$.subject') FROM json_each(plan, '$.subjects')) END FROM runs WHERE run = ?1";
        let found: Option<(u64, String)> =
            self.connection.prepare_cached(sql)?.query_row([run], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
        let (planned, subjects) = found.unwrap_or_default();
        let subjects = serde_json::from_str(&subjects).unwrap_or_default();
        Ok(RunCounts { planned, finished, passed, aborted, spent, subjects })
    }
}
