//! File lock of a run beside a SQLite file.

use crate::{RunLock, StoreError};
use std::fs::{OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

pub(super) fn lock_file(store: &Path, id: &str) -> Result<RunLock, StoreError> {
    let path = lock_path(store, id);
    let failed = |error: std::io::Error| StoreError::Journal(format!("{} cannot be locked: {error}", path.display()));
    let file = OpenOptions::new().create(true).append(true).open(&path).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(RunLock::new(move || {
            // A file left behind is harmless: only the lock on it counts.
            drop(std::fs::remove_file(path));
            drop(file);
        })),
        Err(TryLockError::WouldBlock) => Err(StoreError::InUse { id: id.to_owned() }),
        Err(TryLockError::Error(error)) => Err(failed(error)),
    }
}

fn lock_path(store: &Path, id: &str) -> PathBuf {
    let mut name = store.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.lock", id.get(..12).unwrap_or(id)));
    store.with_file_name(name)
}
