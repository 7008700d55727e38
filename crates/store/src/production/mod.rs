//! Store of production traces, in a SQLite file or a PostgreSQL database: spans that wait for their trace, kept traces with their scores,
//! and alerts.

mod day_spending;
mod engine;
mod postgres;
mod records;
mod sqlite;
mod store;
#[cfg(test)]
mod tests;

pub use records::{
    CallReservation, DayLimit, DaySpending, KeptTrace, NewJudgement, NewSpan, OpenTrace, ProductionCounter, ReceiptClaim, ReceiptState,
    RetentionResult, SpanBatch, SpanLimits, StoreMark, StoredAlert, StoredJudgement, StoredSpans, TraceDecision, TraceId, WalletSpending,
    WantedReceipt, WorkOutage,
};
pub use store::ProductionStore;
