//! Word index of stored transcripts, and reports of complete runs, in a file of its own: beside a store in a file, and in the local folder for a store
//! on a server. The viewer fills it; while a run plays, nothing is written to it, so runs do not get slower.
//!
//! The file is derived data: an unknown version or a damaged file is removed and made again.

mod fill;
mod query;
mod reports;
mod words;

pub use query::{SearchPosition, SearchTerms};
pub use reports::ReportKey;

use crate::private_file::create_private;
use crate::{StoreError, StoreLocation};
use model::ContentHash;
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Version of the tables, stored as `PRAGMA user_version`.
const INDEX_VERSION: i64 = 2;
const PAGE_BYTES: u32 = 8 << 10;
/// Cache of a connection in KiB, negative as SQLite wants it.
const CACHE_KIB: i64 = -(8 << 10);
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

// Rows of the index hold document numbers only: no text, no positions in the text. Measured on 5,896 trials with 63 MB of events: 2.7 MB, against 61 MB
// with trigrams.
const TABLES: &str = "
CREATE TABLE runs (
    run         INTEGER PRIMARY KEY,
    id          TEXT NOT NULL,
    is_complete INTEGER NOT NULL,
    subjects    TEXT NOT NULL,
    planned     INTEGER NOT NULL,
    finished    INTEGER NOT NULL,
    passed      INTEGER NOT NULL,
    aborted     INTEGER NOT NULL,
    spent       INTEGER NOT NULL
) STRICT;
CREATE TABLE docs (
    doc     INTEGER PRIMARY KEY,
    content TEXT NOT NULL
) STRICT;
CREATE TABLE reports (
    id        TEXT NOT NULL,
    kind      TEXT NOT NULL,
    made_from TEXT NOT NULL,
    text      BLOB NOT NULL,
    PRIMARY KEY (id, kind)
) STRICT;
CREATE VIRTUAL TABLE words USING fts5(text, content='', contentless_delete=1, detail=none, tokenize='ascii');
";

/// Word index of a store.
#[derive(Debug)]
pub struct SearchIndex {
    connection: Connection,
}

/// Part of the store that the index covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexCoverage {
    pub runs: usize,
    /// Runs with trials that are not in the index yet.
    pub behind: usize,
}

impl SearchIndex {
    /// Opens or creates the index of a store. The index of a store on a server is a file of this machine.
    ///
    /// # Errors
    ///
    /// Fails if the folder cannot be written to, or the URL of the server cannot be read.
    pub fn open(location: impl Into<StoreLocation>) -> Result<Self, StoreError> {
        let path = location.into().index_file()?;
        if let Some(folder) = path.parent() {
            // A folder that cannot be made is reported when the file is opened.
            drop(std::fs::create_dir_all(folder));
        }
        create_private(&path);
        match Self::open_file(&path) {
            Ok(Some(index)) => Ok(index),
            Ok(None) | Err(_) => {
                remove_files(&path);
                create_private(&path);
                Self::open_file(&path)?.ok_or_else(|| StoreError::Journal("the search index cannot be made".to_owned()))
            }
        }
    }

    /// Returns an empty index in memory.
    pub fn open_in_memory() -> Result<Self, StoreError> {
        let connection = Connection::open_in_memory()?;
        connection.execute_batch(TABLES)?;
        Ok(Self { connection })
    }

    /// Returns nothing for an index of another version.
    fn open_file(path: &Path) -> Result<Option<Self>, StoreError> {
        let connection = Connection::open(path)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        connection.pragma_update(None, "page_size", PAGE_BYTES)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        // The index can be made again, so a power cut may lose it.
        connection.pragma_update(None, "synchronous", "OFF")?;
        connection.pragma_update(None, "cache_size", CACHE_KIB)?;
        let transaction = rusqlite::Transaction::new_unchecked(&connection, rusqlite::TransactionBehavior::Immediate)?;
        let version: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
        let tables: i64 = transaction.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
        match (version, tables) {
            (INDEX_VERSION, _) => {}
            (0, 0) => {
                transaction.execute_batch(TABLES)?;
                transaction.pragma_update(None, "user_version", INDEX_VERSION)?;
            }
            (_, _) => return Ok(None),
        }
        transaction.commit()?;
        Ok(Some(Self { connection }))
    }

    /// Returns the size of the index in bytes.
    pub fn bytes(&self) -> Result<u64, StoreError> {
        let pages: u64 = self.connection.pragma_query_value(None, "page_count", |row| row.get(0))?;
        let size: u64 = self.connection.pragma_query_value(None, "page_size", |row| row.get(0))?;
        Ok(pages * size)
    }
}

impl StoreLocation {
    /// Returns the file of the index: beside the file of a store, else in the folder of what is kept for a server, by host, port and database.
    fn index_file(&self) -> Result<PathBuf, StoreError> {
        match self {
            StoreLocation::File(store) => {
                let mut name = store.file_name().unwrap_or_default().to_owned();
                name.push(".search");
                Ok(store.with_file_name(name))
            }
            StoreLocation::Postgres(target) => {
                let hash = ContentHash::of_text(&target.place()?);
                Ok(self.folder().join(format!("server-{}.search", hash.short())))
            }
        }
    }
}

fn remove_files(path: &Path) {
    for end in ["", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        // A file that cannot be removed is reported when it is opened again.
        drop(std::fs::remove_file(name));
    }
}

#[cfg(test)]
mod tests;
