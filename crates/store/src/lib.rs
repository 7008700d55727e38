//! SQLite store of runs, trials, model calls and cached replies.

mod agent_output;
mod browse;
mod busy;
mod calls;
mod error;
mod journal;
mod lock;
mod migrate;
mod open;
pub mod production;
mod runs;
mod schema;
mod spending;
mod transcripts;
mod trials;

pub use agent_output::AgentOutput;
pub use browse::{StoredOutcome, TrialFilter, TrialListing, TrialPage};
pub use busy::set_busy_notice;
pub use calls::{CallKey, CallStateCounts};
pub use error::StoreError;
pub use journal::{CommitCallback, Journal, JournalWrite};
pub use lock::RunLock;
pub use migrate::OutcomeRule;
pub use runs::{NewRun, StoredRun};
pub use spending::RoleSpending;
pub use transcripts::{TrialMatches, TrialPosition, UnreadTrial};
pub use trials::{EndedTrial, TrialRow};

use rusqlite::{Connection, Transaction, TransactionBehavior};
use std::path::PathBuf;

/// Connection to a store.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    /// Absent for a store in memory.
    path: Option<PathBuf>,
}

impl Store {
    /// Begins a transaction that takes the write lock at once, so that a later write cannot fail on it.
    fn transaction(&self) -> Result<Transaction<'_>, StoreError> {
        Ok(Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?)
    }
}

#[cfg(test)]
mod tests;
