//! SQLite file of production traces: spans that wait for their trace, kept traces with their scores, and alerts.

mod alerts;
mod counters;
mod judge_calls;
mod judgements;
mod kept_traces;
mod open;
mod receipts;
mod retention;
mod spans;
#[cfg(test)]
mod tests;

pub use alerts::StoredAlert;
pub use counters::ProductionCounter;
pub use judge_calls::{CallReservation, DayLimit};
pub use judgements::{NewJudgement, StoredJudgement};
pub use kept_traces::{KeptTrace, TraceDecision};
pub use receipts::{ReceiptState, WantedReceipt};
pub use retention::RetentionResult;
pub use spans::{NewSpan, OpenTrace, SpanLimits, StoredSpans};

use crate::StoreError;
use rusqlite::{Connection, Transaction, TransactionBehavior};
use std::ops::Deref;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Id of a trace.
pub type TraceId = [u8; 16];

/// Connection to a file of production traces. Several connections, also of other processes, may be open at once.
#[derive(Debug)]
pub struct ProductionStore {
    connection: Connection,
}

impl ProductionStore {
    /// Begins a transaction that takes the write lock at once.
    fn transaction(&self) -> Result<WriteTransaction<'_>, StoreError> {
        let turn = WRITE_TURN.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(WriteTransaction { transaction: Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?, _turn: turn })
    }
}

/// Turn of the connections of this process. SQLite waits for a lock by sleeping, which costs a collector most of its time.
static WRITE_TURN: Mutex<()> = Mutex::new(());

/// Transaction that holds the turn until it ends.
struct WriteTransaction<'c> {
    transaction: Transaction<'c>,
    _turn: MutexGuard<'static, ()>,
}

impl WriteTransaction<'_> {
    fn commit(self) -> rusqlite::Result<()> {
        self.transaction.commit()
    }
}

impl Deref for WriteTransaction<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.transaction
    }
}
