//! File lock of a run beside a SQLite file.

use crate::{RunLock, StoreError};
use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Attempts to lock. A program that a killed run was starting holds the lock until it is started, which takes long on a busy machine.
const MAX_ATTEMPTS: u32 = 60;
const RETRY_PAUSE: Duration = Duration::from_millis(50);

pub(super) fn lock_file(store: &Path, id: &str) -> Result<RunLock, StoreError> {
    let path = lock_path(store, id);
    for attempt in 1..=MAX_ATTEMPTS {
        if let Some(file) = try_lock(&path)? {
            return Ok(RunLock::new(move || {
                // A file left behind is harmless: only the lock on it counts.
                drop(std::fs::remove_file(path));
                drop(file);
            }));
        }
        if attempt < MAX_ATTEMPTS {
            std::thread::sleep(RETRY_PAUSE);
        }
    }
    Err(StoreError::InUse { id: id.to_owned() })
}

/// Returns the locked file; nothing if another process has the lock, or removed the file while this one waited.
fn try_lock(path: &Path) -> Result<Option<File>, StoreError> {
    let failed = |error: std::io::Error| StoreError::Journal(format!("{} cannot be locked: {error}", path.display()));
    let file = OpenOptions::new().create(true).append(true).open(path).map_err(failed)?;
    match file.try_lock() {
        Ok(()) if is_still_at(path, &file) => Ok(Some(file)),
        Ok(()) | Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(failed(error)),
    }
}

#[cfg(unix)]
fn is_still_at(path: &Path, file: &File) -> bool {
    use std::os::unix::fs::MetadataExt;
    let (Ok(opened), Ok(current)) = (file.metadata(), std::fs::metadata(path)) else { return false };
    (opened.dev(), opened.ino()) == (current.dev(), current.ino())
}

#[cfg(not(unix))]
fn is_still_at(_: &Path, _: &File) -> bool {
    true
}

fn lock_path(store: &Path, id: &str) -> PathBuf {
    let mut name = store.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.lock", model::short_id(id)));
    store.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    /// A holder removes the file before it gives the lock back, so another may lock a file that is no longer there.
    #[test]
    fn lock_is_never_held_twice_while_its_file_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let (path, holders, held) = (folder.path().join("a.lock"), AtomicUsize::new(0), AtomicUsize::new(0));
        let hold = || {
            for _ in 0..500 {
                let Some(file) = try_lock(&path).unwrap() else { continue };
                held.fetch_add(1, Ordering::SeqCst);
                assert_eq!(holders.fetch_add(1, Ordering::SeqCst), 0, "two hold the lock");
                thread::yield_now();
                holders.fetch_sub(1, Ordering::SeqCst);
                drop(std::fs::remove_file(&path));
                drop(file);
            }
        };
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(hold);
            }
        });
        assert!(held.into_inner() > 0);
    }
}
