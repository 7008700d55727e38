//! Opening and creating SQLite files. Safe if several processes open the same file at once.

use super::SqliteEngine;
use super::busy::wait_for_lock;
use super::migrate::{OutcomeRule, convert_v1, convert_v2};
use super::schema::{AGENT_OUTPUT, SCHEMA, SCHEMA_VERSION};
use crate::StoreError;
use crate::private_file::create_private;
use model::{CaseOutcome, Ending, Score};
use rusqlite::{Connection, OpenFlags, TransactionBehavior};
use std::path::Path;
use std::time::Duration;

/// Attempts to open a store. SQLite's busy timeout does not cover the switch to WAL mode, so that step is retried here.
const MAX_OPEN_ATTEMPTS: u32 = 400;
const RETRY_PAUSE: Duration = Duration::from_millis(25);
const PAGE_BYTES: u32 = 16 << 10;
/// Size of the write-ahead log at which it is copied into the store.
const WAL_BYTES: u32 = 16 << 20;

impl SqliteEngine {
    /// Opens or creates a store, converting older formats with `outcome`. Processes that share a store wait for each other. A store on a
    /// read-only file system can be read, but not written to.
    ///
    /// # Errors
    ///
    /// Fails if the file is not a store, or was written by a newer version.
    pub(crate) fn open(path: &Path, outcome: OutcomeRule) -> Result<Self, StoreError> {
        if is_on_read_only_file_system(path) {
            return Ok(Self { connection: open_read_only(path)?, path: Some(path.to_owned()) });
        }
        create_private(path);
        ignore_in_git(path);
        let mut attempt = 1;
        loop {
            match Connection::open(path).map_err(StoreError::from).and_then(|connection| prepare_connection(connection, outcome)) {
                Err(error) if error.is_busy() && attempt < MAX_OPEN_ATTEMPTS => {
                    attempt += 1;
                    std::thread::sleep(RETRY_PAUSE);
                }
                Err(error) => return Err(error),
                Ok(connection) => return Ok(Self { connection, path: Some(path.to_owned()) }),
            }
        }
    }

    /// Returns an empty store in memory.
    pub(crate) fn open_in_memory() -> Result<Self, StoreError> {
        let nothing_to_convert = |_: &Ending, _: &[Score]| CaseOutcome::Unjudged;
        Ok(Self { connection: prepare_connection(Connection::open_in_memory()?, nothing_to_convert)?, path: None })
    }
}

fn is_on_read_only_file_system(path: &Path) -> bool {
    let opened = std::fs::OpenOptions::new().append(true).open(path);
    opened.is_err_and(|error| error.kind() == std::io::ErrorKind::ReadOnlyFilesystem)
}

/// Opens a store that cannot be written to. SQLite cannot make the files of its write-ahead log there, and needs none.
fn open_read_only(path: &Path) -> Result<Connection, StoreError> {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    if std::fs::metadata(log).is_ok_and(|log| log.len() > 0) {
        return Err(StoreError::ReadOnly { why: "it was copied while a run was written to it" });
    }
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let escaped = absolute.to_string_lossy().replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(format!("file:{escaped}?immutable=1"), flags)?;
    connection.set_prepared_statement_cache_capacity(64);
    match version(&connection)? {
        SCHEMA_VERSION => Ok(connection),
        found if found > SCHEMA_VERSION => Err(StoreError::NewerVersion { found, known: SCHEMA_VERSION }),
        _ => Err(StoreError::ReadOnly { why: "it has an older format and cannot be converted" }),
    }
}

/// Keeps the default folder of stores out of git, whichever repository it lies in. Other folders are the user's.
pub(crate) fn ignore_in_git(path: &Path) {
    let Some(folder) = path.parent().filter(|folder| folder.file_name().is_some_and(|name| name == ".bardo-eval")) else { return };
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    if let Ok(mut file) = options.open(folder.join(".gitignore")) {
        // Without the file, git shows the folder; nothing else depends on it.
        drop(std::io::Write::write_all(&mut file, b"*\n"));
    }
}

fn prepare_connection(mut connection: Connection, outcome: OutcomeRule) -> Result<Connection, StoreError> {
    connection.busy_handler(Some(wait_for_lock))?;
    // Most trials take a little more than half of a page of 4 kB, which would leave the rest of it empty. Existing stores keep their size.
    connection.pragma_update(None, "page_size", PAGE_BYTES)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // Commits survive a crash of this process. A power cut may lose the last ones but does not corrupt the file.
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "wal_autocheckpoint", WAL_BYTES / PAGE_BYTES)?;
    connection.set_prepared_statement_cache_capacity(64);
    if version(&connection)? == SCHEMA_VERSION {
        return Ok(connection);
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Checked again under the lock: another process may have created or converted the store.
    match version(&transaction)? {
        SCHEMA_VERSION => {}
        0 if has_runs(&transaction)? => convert_v1(&transaction, outcome)?,
        0 => {
            transaction.execute_batch(SCHEMA)?;
            transaction.execute_batch(AGENT_OUTPUT)?;
        }
        2 => convert_v2(&transaction)?,
        found => return Err(StoreError::NewerVersion { found, known: SCHEMA_VERSION }),
    }
    transaction.pragma_update(None, "user_version", SCHEMA_VERSION)?;
    transaction.commit()?;
    Ok(connection)
}

fn version(connection: &Connection) -> Result<i64, StoreError> {
    Ok(connection.pragma_query_value(None, "user_version", |row| row.get(0))?)
}

fn has_runs(connection: &Connection) -> Result<bool, StoreError> {
    Ok(connection.query_row("SELECT count(*) > 0 FROM sqlite_schema WHERE name = 'runs'", [], |row| row.get(0))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Store;
    use crate::tests::all_pass;

    #[cfg(unix)]
    #[test]
    fn new_store_is_private_to_its_owner() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.sqlite");
        let _store = Store::open(&path, all_pass).unwrap();
        for name in ["store.sqlite", "store.sqlite-wal", "store.sqlite-shm"] {
            let mode = folder.path().join(name).metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{name}");
        }
    }

    #[test]
    fn store_has_large_pages_and_a_log_of_bounded_size() {
        let folder = tempfile::tempdir().unwrap();
        let prepared = prepare_connection(Connection::open(folder.path().join("store.sqlite")).unwrap(), all_pass).unwrap();
        let number = |name: &str| prepared.pragma_query_value(None, name, |row| row.get::<_, u32>(0)).unwrap();
        assert_eq!(number("page_size"), PAGE_BYTES);
        // SQLite counts pages, and the bound is in bytes.
        assert_eq!(number("wal_autocheckpoint") * PAGE_BYTES, WAL_BYTES);
        let mode: String = prepared.pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
        assert_eq!(mode, "wal");
    }

    #[test]
    fn concurrent_opens_create_one_store() {
        for _ in 0..5 {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("store.sqlite");
            std::thread::scope(|scope| {
                let openers: Vec<_> =
                    (0..8).map(|_| scope.spawn(|| Store::open(&path, all_pass).map(|store| store.runs().unwrap().len()))).collect();
                for opener in openers {
                    assert_eq!(opener.join().unwrap().unwrap(), 0);
                }
            });
        }
    }

    #[test]
    fn newer_store_version_is_refused_unchanged() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.sqlite");
        drop(Store::open(&path, all_pass).unwrap());
        let connection = Connection::open(&path).unwrap();
        connection.pragma_update(None, "user_version", 99).unwrap();
        assert!(matches!(Store::open(&path, all_pass), Err(StoreError::NewerVersion { found: 99, .. })));
        assert_eq!(version(&connection).unwrap(), 99);
    }

    #[test]
    fn read_only_store_of_another_version_is_refused_by_its_age() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.sqlite");
        drop(Store::open(&path, all_pass).unwrap());
        let opened_as = |version: i64| {
            let connection = Connection::open(&path).unwrap();
            connection.pragma_update(None, "user_version", version).unwrap();
            drop(connection);
            open_read_only(&path)
        };
        assert!(opened_as(SCHEMA_VERSION).is_ok());
        assert!(matches!(opened_as(SCHEMA_VERSION + 1), Err(StoreError::NewerVersion { .. })));
        assert!(matches!(opened_as(SCHEMA_VERSION - 1), Err(StoreError::ReadOnly { .. })));
    }

    #[test]
    fn opening_a_non_database_file_fails() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.sqlite");
        #[expect(clippy::disallowed_methods, reason = "the test needs an invalid file")]
        std::fs::write(&path, "not a database, certainly not one").unwrap();
        assert!(Store::open(&path, all_pass).is_err());
    }
}
