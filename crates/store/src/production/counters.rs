//! Counters that change in the same commit as what they count.

use super::ProductionStore;
use crate::StoreError;
use rusqlite::{Connection, params};

/// Counted thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProductionCounter {
    SpansStored,
    SpansRepeated,
    SpansLate,
    SpansOverLimit,
    TracesSampled,
    TracesKept,
    TracesDropped,
    TracesUnreadable,
    AlertsRaised,
    AlertsSent,
    /// Transactions whose receipts were decoded, and those that could not be.
    ReceiptsDecoded,
    ReceiptsFailed,
    /// Traces that a judge graded, those whose answer could not be used, and those that the budget of the day did not cover.
    TracesJudged,
    TracesMisjudged,
    JudgeUnfunded,
}

impl ProductionCounter {
    pub const ALL: &[ProductionCounter] = &[
        ProductionCounter::SpansStored,
        ProductionCounter::SpansRepeated,
        ProductionCounter::SpansLate,
        ProductionCounter::SpansOverLimit,
        ProductionCounter::TracesSampled,
        ProductionCounter::TracesKept,
        ProductionCounter::TracesDropped,
        ProductionCounter::TracesUnreadable,
        ProductionCounter::AlertsRaised,
        ProductionCounter::AlertsSent,
        ProductionCounter::ReceiptsDecoded,
        ProductionCounter::ReceiptsFailed,
        ProductionCounter::TracesJudged,
        ProductionCounter::TracesMisjudged,
        ProductionCounter::JudgeUnfunded,
    ];

    /// Returns the name in the file and in metrics.
    pub fn word(self) -> &'static str {
        match self {
            ProductionCounter::SpansStored => "spans_stored",
            ProductionCounter::SpansRepeated => "spans_repeated",
            ProductionCounter::SpansLate => "spans_late",
            ProductionCounter::SpansOverLimit => "spans_over_limit",
            ProductionCounter::TracesSampled => "traces_sampled",
            ProductionCounter::TracesKept => "traces_kept",
            ProductionCounter::TracesDropped => "traces_dropped",
            ProductionCounter::TracesUnreadable => "traces_unreadable",
            ProductionCounter::AlertsRaised => "alerts_raised",
            ProductionCounter::AlertsSent => "alerts_sent",
            ProductionCounter::ReceiptsDecoded => "receipts_decoded",
            ProductionCounter::ReceiptsFailed => "receipts_failed",
            ProductionCounter::TracesJudged => "traces_judged",
            ProductionCounter::TracesMisjudged => "traces_misjudged",
            ProductionCounter::JudgeUnfunded => "judge_unfunded",
        }
    }
}

/// Adds to a counter.
pub(super) fn count(connection: &Connection, counter: ProductionCounter, n: u64) -> Result<(), StoreError> {
    if n > 0 {
        let mut statement =
            connection.prepare_cached("INSERT INTO counters (what, n) VALUES (?1, ?2) ON CONFLICT (what) DO UPDATE SET n = n + ?2")?;
        statement.execute(params![counter.word(), n])?;
    }
    Ok(())
}

impl ProductionStore {
    /// Adds to a counter outside of another change.
    pub fn add_count(&self, counter: ProductionCounter, n: u64) -> Result<(), StoreError> {
        let transaction = self.transaction()?;
        count(&transaction, counter, n)?;
        Ok(transaction.commit()?)
    }

    /// Returns the count of every counter, in order.
    pub fn counters(&self) -> Result<Vec<(ProductionCounter, u64)>, StoreError> {
        let mut statement = self.connection.prepare_cached("SELECT coalesce((SELECT n FROM counters WHERE what = ?1), 0)")?;
        ProductionCounter::ALL.iter().map(|counter| Ok((*counter, statement.query_row([counter.word()], |row| row.get(0))?))).collect()
    }
}
