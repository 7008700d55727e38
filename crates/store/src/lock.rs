//! File lock of a run, held by one process at a time. The operating system releases it when the process ends.

use crate::{Store, StoreError};
use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

/// Lock on a run, released on drop.
#[derive(Debug)]
pub struct RunLock {
    held: Option<(File, PathBuf)>,
}

impl Store {
    /// Locks a run. A store in memory needs no lock.
    ///
    /// # Errors
    ///
    /// Fails with [`StoreError::InUse`] if another process holds the lock.
    pub fn lock_run(&self, id: &str) -> Result<RunLock, StoreError> {
        let Some(path) = &self.path else { return Ok(RunLock { held: None }) };
        let path = lock_path(path, id);
        let failed = |error: std::io::Error| StoreError::Journal(format!("{} cannot be locked: {error}", path.display()));
        let file = OpenOptions::new().create(true).append(true).open(&path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => Ok(RunLock { held: Some((file, path)) }),
            Err(TryLockError::WouldBlock) => Err(StoreError::InUse { id: id.to_owned() }),
            Err(TryLockError::Error(error)) => Err(failed(error)),
        }
    }
}

impl Drop for RunLock {
    fn drop(&mut self) {
        if let Some((_, path)) = &self.held {
            // A file left behind is harmless: only the lock on it counts.
            drop(std::fs::remove_file(path));
        }
    }
}

fn lock_path(store: &Path, id: &str) -> PathBuf {
    let mut name = store.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.lock", id.get(..12).unwrap_or(id)));
    store.with_file_name(name)
}
