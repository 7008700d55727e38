//! Runs in a list: without plan and settings, and with counters that the search index keeps for complete runs.

use crate::search::SearchIndex;
use crate::selection::RunCounts;
use crate::{Store, StoreError};
use std::collections::BTreeMap;

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
        model::short_id(&self.id)
    }
}

impl Store {
    /// Returns the id of a run.
    pub fn run_id(&self, run: i64) -> Result<Option<String>, StoreError> {
        self.engine.run_id(run)
    }

    /// Returns the keys of the complete runs by id.
    pub fn complete_runs(&self) -> Result<BTreeMap<String, i64>, StoreError> {
        let heads = self.engine.run_heads(i64::MAX, usize::MAX)?;
        Ok(heads.into_iter().filter(|head| head.ended.is_some()).map(|head| (head.id, head.run)).collect())
    }

    /// Returns up to `most` runs that began before the run with this key, the last one first. Counters of complete runs come from the index
    /// if it has them.
    pub fn list_runs(&self, index: Option<&SearchIndex>, before: Option<i64>, most: usize) -> Result<Vec<RunListing>, StoreError> {
        let mut runs = vec![];
        for head in self.engine.run_heads(before.unwrap_or(i64::MAX), most)? {
            let known = index.map(|index| index.counts(head.run, &head.id)).transpose()?.flatten();
            let counts = known.map_or_else(|| self.engine.run_counts(head.run), Ok)?;
            runs.push(RunListing { run: head.run, id: head.id, started: head.started, ended: head.ended, counts });
        }
        Ok(runs)
    }

    /// Returns whether one of the first and last cases of a run fits.
    pub fn has_case_at_an_end(&self, run: i64, fits: &dyn Fn(&str) -> bool) -> Result<bool, StoreError> {
        Ok(self.engine.cases_at_ends(run)?.iter().any(|case| fits(case)))
    }
}
