//! Opening a store on either engine.

use crate::postgres::{PgConnection, PgEngine};
use crate::sqlite::{OutcomeRule, SqliteEngine};
use crate::{Store, StoreError, StoreLocation};

impl Store {
    /// Opens or creates a store, converting older formats with `outcome`. Processes that share a store wait for each other. A store on a
    /// read-only file system or server can be read, but not written to.
    ///
    /// # Errors
    ///
    /// Fails if the file is not a store, the server cannot be used, or the store was written by a newer version.
    pub fn open(location: impl Into<StoreLocation>, outcome: OutcomeRule) -> Result<Self, StoreError> {
        Ok(match location.into() {
            StoreLocation::File(path) => Self { engine: Box::new(SqliteEngine::open(&path, outcome)?) },
            StoreLocation::Postgres(target) => Self { engine: Box::new(PgEngine::open(&target)?) },
        })
    }

    /// Opens a store that exists; returns nothing and creates nothing if there is none.
    ///
    /// # Errors
    ///
    /// Like [`Store::open`].
    pub fn open_existing(location: impl Into<StoreLocation>, outcome: OutcomeRule) -> Result<Option<Self>, StoreError> {
        Ok(match location.into() {
            StoreLocation::File(path) if !path.exists() => None,
            StoreLocation::File(path) => Some(Self { engine: Box::new(SqliteEngine::open(&path, outcome)?) }),
            StoreLocation::Postgres(target) => PgEngine::open_existing(&target)?.map(|engine| Self { engine: Box::new(engine) }),
        })
    }

    /// Returns an empty store in memory.
    pub fn open_in_memory() -> Result<Self, StoreError> {
        Ok(Self { engine: Box::new(SqliteEngine::open_in_memory()?) })
    }

    /// Returns the connection of a store on PostgreSQL, for what only a store shared by machines has.
    pub fn postgres(&self) -> Option<&PgConnection> {
        self.engine.postgres()
    }
}
