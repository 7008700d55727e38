//! Summaries of attacks of the runs that were looked at last: making one reads every transcript.

use super::ViewerState;
use super::store_pool::PooledStore;
use crate::pages::AttackSummary;
use std::sync::{Arc, Mutex, PoisonError};
use store::{StoreError, StoredRun};

/// Runs whose summaries are kept.
const MAX_KEPT: usize = 8;

/// Run id, number of trials that ended, and the summaries of them.
type KeptSummaries = (String, u64, Arc<[AttackSummary]>);

/// Summaries by run id and number of trials that ended, so that a run in progress is read again.
#[derive(Debug, Default)]
pub(super) struct AttackCache {
    kept: Mutex<Vec<KeptSummaries>>,
}

impl AttackCache {
    pub(super) fn read(&self, state: &ViewerState, pooled: &PooledStore, run: &StoredRun) -> Result<Arc<[AttackSummary]>, StoreError> {
        let lock = || self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let known = lock().iter().find(|(id, finished, _)| *id == run.id && *finished == run.finished).map(|(_, _, found)| found.clone());
        if let Some(known) = known {
            return Ok(known);
        }
        let workspace = state.reports.run_workspace(run);
        let made: Arc<[AttackSummary]> = state.reports.attacks(&workspace, &pooled.store, run)?.into();
        let mut kept = lock();
        kept.retain(|(id, _, _)| *id != run.id);
        kept.insert(0, (run.id.clone(), run.finished, made.clone()));
        kept.truncate(MAX_KEPT);
        Ok(made)
    }
}
