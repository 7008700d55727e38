//! Texts of single trials: what the search index reads, and the model calls behind a trial.

use crate::{Store, StoreError};
use rusqlite::{OptionalExtension, params};

/// Characters of a content hash that tell trials apart.
const HASH_CHARS: u32 = 16;

/// Trial as the search index reads it.
#[derive(Debug)]
pub(crate) struct TrialText {
    pub case: String,
    /// Begin of the content hash.
    pub content: String,
    /// JSON.
    pub events: String,
    pub scores: String,
}

/// Model call of a trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrialCall {
    pub role: String,
    pub n: u32,
    pub state: String,
    /// Nano-dollars, failed attempts included.
    pub cost: u64,
    pub waited_us: Option<u64>,
    /// Reason of a failure.
    pub why: Option<String>,
    /// JSON.
    pub reply: Option<String>,
}

impl Store {
    /// Returns positions and content hashes of the trials of a run.
    pub(crate) fn trial_contents(&self, run: i64) -> Result<Vec<(u64, String)>, StoreError> {
        let mut rows = self.connection.prepare_cached("SELECT n, substr(content, 1, ?2) FROM trials WHERE run = ?1 ORDER BY n")?;
        let rows = rows.query_map(params![run, HASH_CHARS], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    pub(crate) fn trial_text(&self, run: i64, n: u64) -> Result<Option<TrialText>, StoreError> {
        let sql = "SELECT case_id, substr(content, 1, ?3), events, scores FROM trials WHERE run = ?1 AND n = ?2";
        let text = self.connection.prepare_cached(sql)?.query_row(params![run, n, HASH_CHARS], |row| {
            Ok(TrialText { case: row.get(0)?, content: row.get(1)?, events: row.get(2)?, scores: row.get(3)? })
        });
        Ok(text.optional()?)
    }

    /// Returns the events of a trial as JSON; absent if they are longer than `most` bytes.
    pub fn events_json(&self, run: i64, n: u64, most: usize) -> Result<Option<String>, StoreError> {
        let sql = "SELECT events FROM trials WHERE run = ?1 AND n = ?2 AND length(events) <= ?3";
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        Ok(self.connection.prepare_cached(sql)?.query_row(params![run, n, most], |row| row.get(0)).optional()?)
    }

    /// Returns up to `most` model calls of a trial.
    pub fn calls_of_trial(&self, run: i64, trial: &str, most: usize) -> Result<Vec<TrialCall>, StoreError> {
        let sql = "SELECT role, n, state, cost + lost, waited_us, why, reply FROM calls WHERE run = ?1 AND trial = ?2 ORDER BY role DESC, n LIMIT ?3";
        let mut rows = self.connection.prepare_cached(sql)?;
        let rows = rows.query_map(params![run, trial, i64::try_from(most).unwrap_or(i64::MAX)], |row| {
            Ok(TrialCall {
                role: row.get(0)?,
                n: row.get(1)?,
                state: row.get(2)?,
                cost: row.get(3)?,
                waited_us: row.get(4)?,
                why: row.get(5)?,
                reply: row.get(6)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}
