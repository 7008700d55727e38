//! SQLite file of production traces: spans that wait for their trace, kept traces with their scores, and alerts.

mod alerts;
mod counters;
mod kept_traces;
mod open;
mod retention;
mod spans;
#[cfg(test)]
mod tests;

pub use alerts::StoredAlert;
pub use counters::ProductionCounter;
pub use kept_traces::{KeptTrace, TraceDecision};
pub use retention::RetentionResult;
pub use spans::{NewSpan, OpenTrace, SpanLimits, StoredSpans};

use crate::StoreError;
use rusqlite::{Connection, Transaction, TransactionBehavior};

/// Id of a trace.
pub type TraceId = [u8; 16];

/// Connection to a file of production traces. Several connections, also of other processes, may be open at once.
#[derive(Debug)]
pub struct ProductionStore {
    connection: Connection,
}

impl ProductionStore {
    /// Begins a transaction that takes the write lock at once.
    fn transaction(&self) -> Result<Transaction<'_>, StoreError> {
        Ok(Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?)
    }
}
