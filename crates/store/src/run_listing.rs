//! Runs in a list: without plan and settings, and with counters that the search index keeps for complete runs.

use crate::search::SearchIndex;
use crate::{RunCounts, Store, StoreError};
use rusqlite::params;

/// Run in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunListing {
    /// Key in the other tables.
    pub run: i64,
    pub id: String,
    pub started: String,
    /// Time of completion; absent while the run is incomplete.
    pub ended: Option<String>,
    pub counts: RunCounts,
}

impl RunListing {
    /// Returns the first 12 characters of the run id, which no other run has.
    pub fn short_run_id(&self) -> &str {
        self.id.get(..12).unwrap_or(&self.id)
    }
}

impl Store {
    /// Returns whether any run is stored.
    pub fn has_runs(&self) -> Result<bool, StoreError> {
        Ok(self.connection.query_row("SELECT EXISTS (SELECT 1 FROM runs)", [], |row| row.get(0))?)
    }

    /// Returns up to `most` runs that began before the run with this key, the last one first. Counters of complete runs come from the index if it
    /// has them.
    pub fn list_runs(&self, index: Option<&SearchIndex>, before: Option<i64>, most: usize) -> Result<Vec<RunListing>, StoreError> {
        let sql = "SELECT run, id, started, ended FROM runs WHERE run < ?1 ORDER BY run DESC LIMIT ?2";
        let mut rows = self.connection.prepare_cached(sql)?;
        let mut rows = rows.query(params![before.unwrap_or(i64::MAX), i64::try_from(most).unwrap_or(i64::MAX)])?;
        let mut runs = vec![];
        while let Some(row) = rows.next()? {
            let (run, id): (i64, String) = (row.get(0)?, row.get(1)?);
            let known = index.map(|index| index.counts(run, &id)).transpose()?.flatten();
            let counts = known.map_or_else(|| self.run_counts(run), Ok)?;
            runs.push(RunListing { run, id, started: row.get(2)?, ended: row.get(3)?, counts });
        }
        Ok(runs)
    }

    /// Returns whether one of the first and last cases of a run fits.
    pub fn has_case_at_an_end(&self, run: i64, fits: &dyn Fn(&str) -> bool) -> Result<bool, StoreError> {
        for order in ["ASC", "DESC"] {
            let sql = format!("SELECT case_id FROM trials WHERE run = ?1 ORDER BY n {order} LIMIT 20");
            let mut rows = self.connection.prepare_cached(&sql)?;
            let cases = rows.query_map([run], |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>()?;
            if cases.iter().any(|case| fits(case)) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
