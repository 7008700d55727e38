//! What is kept: finished runs, in an SQLite file that anyone can open.

use model::{FORMAT, RunRecord};
use rusqlite::{Connection, OptionalExtension, params};
use std::path::Path;
use std::time::Duration;

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("the store cannot be opened or used: {0}")]
    Sqlite(#[from] rusqlite::Error),
    #[error("run {id} cannot be read back: {why}")]
    Unreadable { id: String, why: String },
}

/// One row of the list of runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    pub id: String,
    pub at: String,
    pub trials: usize,
}

#[derive(Debug)]
pub struct Store {
    connection: Connection,
}

const SCHEMA: &str = "
CREATE TABLE IF NOT EXISTS runs (
    id     TEXT PRIMARY KEY,  -- hash of the record
    at     TEXT NOT NULL,     -- when it was kept, UTC, ISO 8601; not part of the record
    format INTEGER NOT NULL,  -- format of the record
    trials INTEGER NOT NULL,
    record TEXT NOT NULL      -- JSON
) STRICT;";

impl Store {
    /// Opens or creates a store. Several processes may use one store; they wait for each other.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let connection = Connection::open(path)?;
        connection.busy_timeout(Duration::from_secs(10))?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.execute_batch(SCHEMA)?;
        Ok(Self { connection })
    }

    /// Keeps a record under its hash. The same record again replaces itself.
    pub fn keep(&self, record: &RunRecord, at: &str) -> Result<String, StoreError> {
        let id = record.hash().to_string();
        let json = serde_json::to_string(record).map_err(|error| unreadable(&id, &error))?;
        self.connection.execute(
            "INSERT OR REPLACE INTO runs (id, at, format, trials, record) VALUES (?1, ?2, ?3, ?4, ?5)",
            params![id, at, record.format, record.plan.trials.len(), json],
        )?;
        Ok(id)
    }

    /// A run by its id or the beginning of it.
    pub fn load(&self, id: &str) -> Result<Option<RunRecord>, StoreError> {
        let found: Option<(String, u32, String)> = self
            .connection
            .query_row("SELECT id, format, record FROM runs WHERE substr(id, 1, length(?1)) = ?1 ORDER BY id LIMIT 1", params![id], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })
            .optional()?;
        let Some((id, format, json)) = found else { return Ok(None) };
        if format != FORMAT {
            return Err(unreadable(&id, &format!("its format is {format}, this version reads {FORMAT}")));
        }
        serde_json::from_str(&json).map(Some).map_err(|error| unreadable(&id, &error))
    }

    /// Newest first; of those kept in the same second, the last one kept.
    pub fn runs(&self) -> Result<Vec<Kept>, StoreError> {
        let mut rows = self.connection.prepare("SELECT id, at, trials FROM runs ORDER BY at DESC, rowid DESC")?;
        let kept = rows.query_map([], |row| Ok(Kept { id: row.get(0)?, at: row.get(1)?, trials: row.get(2)? }))?;
        Ok(kept.collect::<Result<_, _>>()?)
    }
}

fn unreadable(id: &str, why: &dyn std::fmt::Display) -> StoreError {
    StoreError::Unreadable { id: id.to_owned(), why: why.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Claim, Hash, Plan};

    fn record(workspace: &str) -> RunRecord {
        RunRecord {
            format: FORMAT,
            claim: Claim::default(),
            plan: Plan { workspace: Hash::of_text(workspace), trials: vec![] },
            transcripts: vec![],
            scores: vec![],
            judgements: vec![],
            out_of_scope: vec![],
        }
    }

    #[test]
    fn what_is_kept_comes_back_from_another_connection() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.sqlite");
        let id = Store::open(&path).unwrap().keep(&record("a"), "2026-01-01T00:00:00Z").unwrap();
        let store = Store::open(&path).unwrap();
        store.keep(&record("b"), "2026-01-02T00:00:00Z").unwrap();
        assert_eq!(store.load(&id[..10]).unwrap(), Some(record("a")));
        assert_eq!(store.load("ffff_not_there").unwrap(), None);
        let ids: Vec<_> = store.runs().unwrap().into_iter().map(|run| run.at).collect();
        assert_eq!(ids, ["2026-01-02T00:00:00Z", "2026-01-01T00:00:00Z"]);
    }

    #[test]
    fn another_format_is_refused_not_guessed() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("store.sqlite")).unwrap();
        let id = store.keep(&RunRecord { format: 99, ..record("a") }, "2026-01-01T00:00:00Z").unwrap();
        assert!(matches!(store.load(&id), Err(StoreError::Unreadable { .. })));
    }

    #[test]
    fn a_file_that_is_no_database_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.sqlite");
        #[expect(clippy::disallowed_methods, reason = "the test writes its own garbage")]
        std::fs::write(&path, "not a database, certainly not one").unwrap();
        assert!(Store::open(&path).is_err());
    }
}
