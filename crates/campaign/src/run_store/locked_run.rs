//! An interrupted run, found and locked before it is resumed.

use super::RunStoreError;
use store::{RunLock, Store, StoreError, StoredRun};

/// An interrupted run that no other process can work on or resume.
#[derive(Debug)]
pub struct LockedRun {
    pub(super) store: Store,
    pub(super) run: StoredRun,
    pub(super) lock: RunLock,
}

impl LockedRun {
    /// Locks a run of the store. What is known of it is read again under the lock.
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
