//! Store of runs, trials, calls and replies, in an SQLite file that anyone can open.

mod calls;
mod error;
mod journal;
mod lock;
mod migrate;
mod open;
mod runs;
mod schema;
mod spending;
mod trials;

pub use calls::{CallKey, CallStateCounts};
pub use error::StoreError;
pub use journal::{CommitCallback, Journal, JournalWrite};
pub use lock::RunLock;
pub use migrate::OutcomeRule;
pub use runs::{NewRun, StoredRun};
pub use spending::RoleSpending;
pub use trials::{EndedTrial, TrialRow};

use rusqlite::{Connection, Transaction, TransactionBehavior};
use std::path::PathBuf;

#[derive(Debug)]
pub struct Store {
    connection: Connection,
    /// Absent in memory.
    path: Option<PathBuf>,
}

impl Store {
    /// Begins with the lock on the file, so that no writer has to give up half way.
    fn transaction(&self) -> Result<Transaction<'_>, StoreError> {
        Ok(Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?)
    }
}

#[cfg(test)]
mod tests;
