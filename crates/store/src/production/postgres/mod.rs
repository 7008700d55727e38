//! Engine of production traces in a PostgreSQL database. Large tables have a partition for each month, so that old months are dropped and
//! not deleted row by row.

mod alerts;
mod counters;
mod judge_calls;
mod judgements;
mod kept_traces;
mod marks;
mod months;
mod receipts;
mod retention;
mod schema;
mod spans;
mod spending;

use super::engine::ProductionEngine;
use crate::StoreError;
use crate::postgres::{PgConnection, PgTarget, PgTransaction, SessionFuture, get};
use crate::production::records::TraceId;
use months::KnownMonths;
use schema::PRODUCTION_TABLES;
use std::sync::Arc;
use tokio_postgres::Row;

/// Lock of transactions that number what they write: numbers are visible in their order, because the next one is drawn after the commit.
const WRITE_TURN: &str = "SELECT pg_advisory_xact_lock(7089065932016402690)";

/// Connection to a database with the tables of production traces.
#[derive(Debug)]
pub(super) struct PgTraces {
    connection: PgConnection,
    known_months: KnownMonths,
    is_relaxed: bool,
}

impl PgTraces {
    /// Opens the tables, creating them or converting those of an older version.
    pub(super) fn open(target: &PgTarget) -> Result<Self, StoreError> {
        Ok(Self::new(PRODUCTION_TABLES.open(target)?))
    }

    /// Opens the tables; returns nothing and creates nothing if there are none.
    pub(super) fn open_existing(target: &PgTarget) -> Result<Option<Self>, StoreError> {
        Ok(PRODUCTION_TABLES.open_existing(target)?.map(Self::new))
    }

    fn new(connection: PgConnection) -> Self {
        Self { connection, known_months: KnownMonths::default(), is_relaxed: false }
    }

    /// Runs `work` in a transaction and commits it exactly once.
    fn transact<T: Send + 'static>(
        &self,
        work: impl for<'t> Fn(PgTransaction<'t>) -> SessionFuture<'t, Result<T, StoreError>> + Send + Sync + 'static,
    ) -> Result<T, StoreError> {
        let (work, is_relaxed) = (Arc::new(work), self.is_relaxed);
        self.connection.transact(move |mut transaction| {
            let work = work.clone();
            Box::pin(async move {
                if is_relaxed {
                    transaction.batch("SET LOCAL synchronous_commit TO off").await?;
                }
                work(transaction).await
            })
        })
    }

    /// Like [`PgTraces::transact`], one writer after the other.
    fn transact_in_turn<T: Send + 'static>(
        &self,
        work: impl for<'t> Fn(PgTransaction<'t>) -> SessionFuture<'t, Result<T, StoreError>> + Send + Sync + 'static,
    ) -> Result<T, StoreError> {
        let work = Arc::new(work);
        self.transact(move |mut transaction| {
            let work = work.clone();
            Box::pin(async move {
                transaction.query(WRITE_TURN, &[]).await?;
                work(transaction).await
            })
        })
    }
}

impl ProductionEngine for PgTraces {
    fn relax_commits(&mut self) -> Result<(), StoreError> {
        self.is_relaxed = true;
        Ok(())
    }
}

/// Reads the id of a trace.
fn get_trace(row: &Row, column: usize) -> Result<TraceId, StoreError> {
    let bytes: &[u8] = get(row, column)?;
    bytes.try_into().map_err(|error| StoreError::unreadable("of a trace", &error))
}

/// Returns a limit of rows.
fn limit(most: usize) -> i64 {
    i64::try_from(most).unwrap_or(i64::MAX)
}

/// Returns a time or bound; those beyond the numbers of a database are as good as its largest.
fn bound(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}
