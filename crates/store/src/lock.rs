//! Lock of a run, held by one process at a time. It ends with the process: the operating system or the server releases it.

use crate::{Store, StoreError};
use std::fmt;

/// Lock on a run, released on drop.
pub struct RunLock {
    release: Option<Box<dyn FnOnce() + Send>>,
}

impl RunLock {
    pub(crate) fn new(release: impl FnOnce() + Send + 'static) -> Self {
        Self { release: Some(Box::new(release)) }
    }

    /// Returns the lock of a run that no other process can see.
    pub(crate) fn unneeded() -> Self {
        Self { release: None }
    }
}

impl fmt::Debug for RunLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RunLock")
    }
}

impl Drop for RunLock {
    fn drop(&mut self) {
        if let Some(release) = self.release.take() {
            release();
        }
    }
}

impl Store {
    /// Locks a run. A store in memory needs no lock.
    ///
    /// # Errors
    ///
    /// Fails with [`StoreError::InUse`] if another process holds the lock.
    pub fn lock_run(&self, id: &str) -> Result<RunLock, StoreError> {
        self.engine.lock_run(id)
    }
}
