//! Engine of production traces in a SQLite file.

mod alerts;
mod counters;
mod judge_calls;
mod judgements;
mod kept_traces;
mod marks;
mod open;
mod receipts;
mod retention;
mod spans;
mod spending;

use super::engine::ProductionEngine;
use crate::StoreError;
use rusqlite::{Connection, Transaction, TransactionBehavior};
use std::ops::Deref;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Connection to a file of production traces.
#[derive(Debug)]
pub(super) struct SqliteTraces {
    pub(super) connection: Connection,
}

impl ProductionEngine for SqliteTraces {
    fn relax_commits(&mut self) -> Result<(), StoreError> {
        Ok(self.connection.pragma_update(None, "synchronous", "NORMAL")?)
    }
}

impl SqliteTraces {
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
