//! Interrupted run, locked before it is resumed.

use super::RunStoreError;
use store::{RunLock, Store, StoreError, StoredRun};

/// Interrupted run, locked against other processes.
#[derive(Debug)]
pub struct LockedRun {
    pub(crate) store: Store,
    pub(crate) run: StoredRun,
    pub(crate) lock: RunLock,
}

impl LockedRun {
    /// Locks a stored run and reads it again under the lock.
    ///
    /// # Errors
    /// If the run is locked, removed or complete.
    pub fn lock(store: Store, run: &StoredRun) -> Result<Self, RunStoreError> {
        let lock = store.lock_run(&run.id)?;
        let run = store.run(run.run)?.ok_or_else(|| StoreError::Journal(format!("run {} was removed", run.short_id())))?;
        match run.record {
            Some(_) => Err(RunStoreError::Complete(run.short_id().to_owned())),
            None => Ok(Self { store, run, lock }),
        }
    }

    pub fn run(&self) -> &StoredRun {
        &self.run
    }
}
