//! Engine of stores in a SQLite file or in memory.

mod browse;
mod busy;
mod calls;
mod lock;
mod migrate;
mod open;
mod runs;
mod schema;
mod trials;

pub use busy::set_busy_notice;
pub use migrate::OutcomeRule;
pub(crate) use open::ignore_in_git;

use crate::StoreError;
use crate::engine::StoreEngine;
use crate::postgres::PgConnection;
use rusqlite::{Connection, Transaction, TransactionBehavior};
use std::path::PathBuf;

/// Connection to a SQLite file.
#[derive(Debug)]
pub(crate) struct SqliteEngine {
    pub(crate) connection: Connection,
    /// Absent for a store in memory.
    path: Option<PathBuf>,
}

impl SqliteEngine {
    /// Begins a transaction that takes the write lock at once, so that a later write cannot fail on it.
    fn transaction(&self) -> Result<Transaction<'_>, StoreError> {
        Ok(Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?)
    }
}

impl StoreEngine for SqliteEngine {
    fn postgres(&self) -> Option<&PgConnection> {
        None
    }
}
