//! Traits of an engine of production traces, one for each group of tables. SQLite and PostgreSQL implement them with the same results; one
//! suite of tests runs over both. The methods are described at [`super::ProductionStore`].

use super::records::{
    CallReservation, DayLimit, DaySpending, KeptTrace, NewJudgement, OpenTrace, ProductionCounter, ReceiptClaim, RetentionResult,
    SpanBatch, SpanLimits, StoreMark, StoredAlert, StoredJudgement, StoredSpans, TraceDecision, TraceId, WalletSpending, WantedReceipt,
    WorkOutage,
};
use crate::StoreError;
use std::fmt::Debug;

/// Spans that wait for their trace.
pub(super) trait SpanTable {
    fn add_spans(&self, requests: &[SpanBatch], now_ms: u64, limits: SpanLimits) -> Result<Vec<StoredSpans>, StoreError>;
    fn settled_traces(&self, now_ms: u64, settle_ms: u64, max_age_ms: u64, most: usize) -> Result<Vec<OpenTrace>, StoreError>;
    fn defer_trace(&self, trace: &TraceId, until_ms: u64) -> Result<(), StoreError>;
    fn oldest_open_ms(&self) -> Result<Option<u64>, StoreError>;
    fn overdue_traces(&self, before_ms: u64) -> Result<u64, StoreError>;
    fn open_trace_count(&self) -> Result<u64, StoreError>;
    fn spans_of(&self, trace: &TraceId) -> Result<Vec<Vec<u8>>, StoreError>;
    fn span_count(&self) -> Result<u64, StoreError>;
}

/// Decided traces.
pub(super) trait TraceTable {
    fn decide(&self, decisions: &[(OpenTrace, TraceDecision)], now_ms: u64) -> Result<u64, StoreError>;
    fn kept_traces(&self, from_s: u64, after: u64, most: usize) -> Result<Vec<KeptTrace>, StoreError>;
    fn kept_trace(&self, trace: &TraceId) -> Result<Option<KeptTrace>, StoreError>;
    fn incomplete_drops(&self, from_ms: u64) -> Result<u64, StoreError>;
}

/// Alerts.
pub(super) trait AlertTable {
    fn raise_alert(&self, key: &str, raised_s: u64, cool_down_s: u64, body: &str) -> Result<Option<u64>, StoreError>;
    fn alert_sent(&self, n: u64, sent_s: u64) -> Result<(), StoreError>;
    fn undelivered_alerts(&self, from_s: u64, most: usize) -> Result<Vec<StoredAlert>, StoreError>;
    fn alerts(&self, from_s: u64, most: usize) -> Result<Vec<StoredAlert>, StoreError>;
}

/// Counters.
pub(super) trait CounterTable {
    fn add_count(&self, counter: ProductionCounter, n: u64) -> Result<(), StoreError>;
    fn counters(&self) -> Result<Vec<(ProductionCounter, u64)>, StoreError>;
}

/// Calls of the judge's model.
pub(super) trait JudgeCallTable {
    fn reserve_judge_call(&self, call: &str, limit: DayLimit, ceiling: u64) -> Result<CallReservation, StoreError>;
    fn settle_judge_call(&self, call: &str, cost: u64, reply: Option<&str>) -> Result<(), StoreError>;
    fn settled_judge_call(&self, call: &str) -> Result<Option<(u64, String)>, StoreError>;
    fn judge_spending(&self, day: u64) -> Result<u64, StoreError>;
}

/// Answers of a judge.
pub(super) trait JudgementTable {
    fn add_judgement(&self, judgement: &NewJudgement, counter: ProductionCounter, now_ms: u64) -> Result<(), StoreError>;
    fn judgements(&self, from_s: u64, after: u64, most: usize) -> Result<Vec<StoredJudgement>, StoreError>;
    fn judgement_of(&self, trace: &TraceId) -> Result<Option<StoredJudgement>, StoreError>;
    fn unjudged_traces(&self, from_s: u64, after: u64, most: usize) -> Result<Vec<(u64, TraceId)>, StoreError>;
}

/// Transactions that traces name.
pub(super) trait ReceiptTable {
    fn want_receipts(&self, trace: &TraceId, wanted: &[(u64, String)], now_ms: u64) -> Result<Vec<ReceiptClaim>, StoreError>;
    fn due_receipts(&self, chain: u64, now_ms: u64, most: usize) -> Result<Vec<WantedReceipt>, StoreError>;
    fn retry_receipt(&self, wanted: &WantedReceipt, due_ms: u64) -> Result<(), StoreError>;
    fn answer_receipt(&self, wanted: &WantedReceipt, body: &str, counter: ProductionCounter) -> Result<(), StoreError>;
}

/// Value that left wallets.
pub(super) trait SpendingTable {
    fn add_spending(&self, spent: &WalletSpending, limit_micros: u64) -> Result<DaySpending, StoreError>;
}

/// Times from which a reader tells whether something is missing.
pub(super) trait MarkTable {
    fn set_mark(&self, mark: StoreMark, at: u64) -> Result<(), StoreError>;
    fn mark(&self, mark: StoreMark) -> Result<Option<u64>, StoreError>;
    fn note_work(&self, now_s: u64, max_silence_s: u64) -> Result<(), StoreError>;
    fn outages(&self, from_s: u64, most: usize) -> Result<Vec<WorkOutage>, StoreError>;
}

/// Removal of old traces.
pub(super) trait RetentionTable {
    fn retain(&self, now_ms: u64, days: u64, bytes: u64) -> Result<RetentionResult, StoreError>;
    fn content_bytes(&self) -> Result<u64, StoreError>;
}

/// Engine of a [`super::ProductionStore`].
pub(super) trait ProductionEngine:
    SpanTable
    + TraceTable
    + AlertTable
    + CounterTable
    + JudgeCallTable
    + JudgementTable
    + ReceiptTable
    + SpendingTable
    + MarkTable
    + RetentionTable
    + Debug
    + Send
{
    fn relax_commits(&mut self) -> Result<(), StoreError>;
}
