//! Functions of a store of production traces, on either engine.

use super::engine::ProductionEngine;
use super::postgres::PgTraces;
use super::records::{
    CallReservation, DayLimit, DaySpending, KeptTrace, NewJudgement, OpenTrace, ProductionCounter, ReceiptClaim, RetentionResult,
    SpanBatch, SpanLimits, StoreMark, StoredAlert, StoredJudgement, StoredSpans, TraceDecision, TraceId, WalletSpending, WantedReceipt,
    WorkOutage,
};
use super::sqlite::SqliteTraces;
use crate::{StoreError, StoreLocation};

/// Connection to a store of production traces. Several connections, also of other processes, may be open at once.
#[derive(Debug)]
pub struct ProductionStore {
    engine: Box<dyn ProductionEngine>,
}

impl ProductionStore {
    /// Opens or creates a store.
    ///
    /// # Errors
    ///
    /// Fails if the file is something else, the server cannot be used, or the store was written by a newer version.
    pub fn open(location: impl Into<StoreLocation>) -> Result<Self, StoreError> {
        Ok(match location.into() {
            StoreLocation::File(path) => Self { engine: Box::new(SqliteTraces::open(&path)?) },
            StoreLocation::Postgres(target) => Self { engine: Box::new(PgTraces::open(&target)?) },
        })
    }

    /// Opens a store that exists; returns nothing and creates nothing if there is none.
    ///
    /// # Errors
    ///
    /// Like [`ProductionStore::open`].
    pub fn open_existing(location: impl Into<StoreLocation>) -> Result<Option<Self>, StoreError> {
        Ok(match location.into() {
            StoreLocation::File(path) if !path.exists() => None,
            StoreLocation::File(path) => Some(Self { engine: Box::new(SqliteTraces::open(&path)?) }),
            StoreLocation::Postgres(target) => PgTraces::open_existing(&target)?.map(|engine| Self { engine: Box::new(engine) }),
        })
    }

    /// Lets a power cut undo the last commits of this connection. For decisions, which are then made again; never for spans.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be used.
    pub fn with_relaxed_commits(mut self) -> Result<Self, StoreError> {
        self.engine.relax_commits()?;
        Ok(self)
    }

    /// Stores the spans of several requests in one durable commit. A span is known by its trace and span id; a repetition changes nothing.
    /// A trace of which spans are refused, here or by the caller, stays incomplete, also if it is decided and grows again.
    ///
    /// # Errors
    ///
    /// Fails if the commit fails; then no span is stored.
    pub fn add_spans(&self, requests: &[SpanBatch], now_ms: u64, limits: SpanLimits) -> Result<Vec<StoredSpans>, StoreError> {
        self.engine.add_spans(requests, now_ms, limits)
    }

    /// Returns open traces that are complete, the longest quiet first: the root ended and no span came for `settle_ms`, or the first span
    /// is older than `max_age_ms`, even if spans still come. Traces that wait for evidence are left out until their time.
    pub fn settled_traces(&self, now_ms: u64, settle_ms: u64, max_age_ms: u64, most: usize) -> Result<Vec<OpenTrace>, StoreError> {
        self.engine.settled_traces(now_ms, settle_ms, max_age_ms, most)
    }

    /// Lets a complete trace wait for evidence until a time.
    pub fn defer_trace(&self, trace: &TraceId, until_ms: u64) -> Result<(), StoreError> {
        self.engine.defer_trace(trace, until_ms)
    }

    /// Returns the arrival of the last span of the open trace that was quiet longest, from which the lag follows.
    pub fn oldest_open_ms(&self) -> Result<Option<u64>, StoreError> {
        self.engine.oldest_open_ms()
    }

    /// Returns the number of open traces whose first span came before a time.
    pub fn overdue_traces(&self, before_ms: u64) -> Result<u64, StoreError> {
        self.engine.overdue_traces(before_ms)
    }

    pub fn open_trace_count(&self) -> Result<u64, StoreError> {
        self.engine.open_trace_count()
    }

    /// Returns the spans of a trace as stored.
    pub fn spans_of(&self, trace: &TraceId) -> Result<Vec<Vec<u8>>, StoreError> {
        self.engine.spans_of(trace)
    }

    /// Returns the number of stored spans.
    pub fn span_count(&self) -> Result<u64, StoreError> {
        self.engine.span_count()
    }

    /// Stores decisions in one commit. A trace that got another span since it was read, or lost one by a refusal, stays open.
    pub fn decide(&self, decisions: &[(OpenTrace, TraceDecision)], now_ms: u64) -> Result<u64, StoreError> {
        self.engine.decide(decisions, now_ms)
    }

    /// Returns kept traces that arrived at or after `from_s`, in the order of their decisions, after the number `after`.
    pub fn kept_traces(&self, from_s: u64, after: u64, most: usize) -> Result<Vec<KeptTrace>, StoreError> {
        self.engine.kept_traces(from_s, after, most)
    }

    /// Returns a kept trace with its transcript.
    pub fn kept_trace(&self, trace: &TraceId) -> Result<Option<KeptTrace>, StoreError> {
        self.engine.kept_trace(trace)
    }

    /// Returns the number of incomplete traces that were left out at or after a time: nothing of them can be read.
    pub fn incomplete_drops(&self, from_ms: u64) -> Result<u64, StoreError> {
        self.engine.incomplete_drops(from_ms)
    }

    /// Stores an alert, unless one with the same key was raised within the cool-down. Returns its number.
    pub fn raise_alert(&self, key: &str, raised_s: u64, cool_down_s: u64, body: &str) -> Result<Option<u64>, StoreError> {
        self.engine.raise_alert(key, raised_s, cool_down_s, body)
    }

    pub fn alert_sent(&self, n: u64, sent_s: u64) -> Result<(), StoreError> {
        self.engine.alert_sent(n, sent_s)
    }

    /// Returns alerts that were raised since a time and not delivered, the oldest first. They survive the process that raised them.
    pub fn undelivered_alerts(&self, from_s: u64, most: usize) -> Result<Vec<StoredAlert>, StoreError> {
        self.engine.undelivered_alerts(from_s, most)
    }

    /// Returns alerts since a time, the newest first.
    pub fn alerts(&self, from_s: u64, most: usize) -> Result<Vec<StoredAlert>, StoreError> {
        self.engine.alerts(from_s, most)
    }

    /// Adds to a counter outside of another change.
    pub fn add_count(&self, counter: ProductionCounter, n: u64) -> Result<(), StoreError> {
        self.engine.add_count(counter, n)
    }

    /// Returns the count of every counter, in order.
    pub fn counters(&self) -> Result<Vec<(ProductionCounter, u64)>, StoreError> {
        self.engine.counters()
    }

    /// Reserves the ceiling of a call, durably and for all processes, unless it would exceed the limit of the day.
    pub fn reserve_judge_call(&self, call: &str, limit: DayLimit, ceiling: u64) -> Result<CallReservation, StoreError> {
        self.engine.reserve_judge_call(call, limit, ceiling)
    }

    /// Settles the newest open reservation of a call. Without a reply the call failed, and its cost stays spent.
    pub fn settle_judge_call(&self, call: &str, cost: u64, reply: Option<&str>) -> Result<(), StoreError> {
        self.engine.settle_judge_call(call, cost, reply)
    }

    /// Returns cost and reply of a call that was answered before.
    pub fn settled_judge_call(&self, call: &str) -> Result<Option<(u64, String)>, StoreError> {
        self.engine.settled_judge_call(call)
    }

    /// Returns the money of a day in nanodollars, open calls at their ceiling.
    pub fn judge_spending(&self, day: u64) -> Result<u64, StoreError> {
        self.engine.judge_spending(day)
    }

    /// Stores an answer. `counter` tells whether it could be used.
    pub fn add_judgement(&self, judgement: &NewJudgement, counter: ProductionCounter, now_ms: u64) -> Result<(), StoreError> {
        self.engine.add_judgement(judgement, counter, now_ms)
    }

    /// Returns answers about traces that began at or after `from_s`, after the number `after`.
    pub fn judgements(&self, from_s: u64, after: u64, most: usize) -> Result<Vec<StoredJudgement>, StoreError> {
        self.engine.judgements(from_s, after, most)
    }

    /// Returns the newest answer about a trace.
    pub fn judgement_of(&self, trace: &TraceId) -> Result<Option<StoredJudgement>, StoreError> {
        self.engine.judgement_of(trace)
    }

    /// Returns kept traces that began at or after `from_s` and have no answer since they were decided last, in the order of decisions.
    pub fn unjudged_traces(&self, from_s: u64, after: u64, most: usize) -> Result<Vec<(u64, TraceId)>, StoreError> {
        self.engine.unjudged_traces(from_s, after, most)
    }

    /// Notes that a trace names transactions, and asks for those that were not asked for before. Returns the state of each, in order.
    pub fn want_receipts(&self, trace: &TraceId, wanted: &[(u64, String)], now_ms: u64) -> Result<Vec<ReceiptClaim>, StoreError> {
        self.engine.want_receipts(trace, wanted, now_ms)
    }

    /// Returns transactions of a chain to ask for now, those that wait longest first.
    pub fn due_receipts(&self, chain: u64, now_ms: u64, most: usize) -> Result<Vec<WantedReceipt>, StoreError> {
        self.engine.due_receipts(chain, now_ms, most)
    }

    /// Notes a failed attempt, and when to try again.
    pub fn retry_receipt(&self, wanted: &WantedReceipt, due_ms: u64) -> Result<(), StoreError> {
        self.engine.retry_receipt(wanted, due_ms)
    }

    /// Stores the final answer; a later one changes nothing.
    pub fn answer_receipt(&self, wanted: &WantedReceipt, body: &str, counter: ProductionCounter) -> Result<(), StoreError> {
        self.engine.answer_receipt(wanted, body, counter)
    }

    /// Notes what a transaction took from a wallet, once. Returns what the wallet spent in a day, if that is over the limit: in the day
    /// that ends with the transaction, or in a later one that only this transaction brings over the limit, because it was read late.
    pub fn add_spending(&self, spent: &WalletSpending, limit_micros: u64) -> Result<DaySpending, StoreError> {
        self.engine.add_spending(spent, limit_micros)
    }

    /// Notes a time, unless a later one is known.
    pub fn set_mark(&self, mark: StoreMark, at: u64) -> Result<(), StoreError> {
        self.engine.set_mark(mark, at)
    }

    pub fn mark(&self, mark: StoreMark) -> Result<Option<u64>, StoreError> {
        self.engine.mark(mark)
    }

    /// Notes that a collector works, and the time in which none did if the last note is older than `max_silence_s`.
    pub fn note_work(&self, now_s: u64, max_silence_s: u64) -> Result<(), StoreError> {
        self.engine.note_work(now_s, max_silence_s)
    }

    /// Returns the times without a collector that ended at or after a time, the newest first.
    pub fn outages(&self, from_s: u64, most: usize) -> Result<Vec<WorkOutage>, StoreError> {
        self.engine.outages(from_s, most)
    }

    /// Removes traces that were decided more than `days` ago, then the oldest until the content takes at most `bytes`.
    pub fn retain(&self, now_ms: u64, days: u64, bytes: u64) -> Result<RetentionResult, StoreError> {
        self.engine.retain(now_ms, days, bytes)
    }

    /// Returns the bytes of the file that hold content; deleted pages are used again.
    pub fn content_bytes(&self) -> Result<u64, StoreError> {
        self.engine.content_bytes()
    }
}
