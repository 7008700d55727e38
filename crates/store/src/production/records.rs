//! Data that is stored about production traffic.

/// Id of a trace.
pub type TraceId = [u8; 16];

/// Span to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSpan {
    pub trace: TraceId,
    pub span: [u8; 8],
    /// The span has no parent, so that its end is the end of the trace.
    pub is_root: bool,
    /// OTLP/JSON.
    pub body: Vec<u8>,
}

/// Spans of one request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SpanBatch {
    pub spans: Vec<NewSpan>,
    /// Traces of which the request has spans that cannot be stored, with their number. Such a trace is incomplete.
    pub refused: Vec<(TraceId, u64)>,
}

impl SpanBatch {
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty() && self.refused.is_empty()
    }
}

impl From<Vec<NewSpan>> for SpanBatch {
    fn from(spans: Vec<NewSpan>) -> Self {
        Self { spans, refused: vec![] }
    }
}

/// Bounds on one trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpanLimits {
    pub spans: u64,
    pub bytes: u64,
}

/// Result of storing spans.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StoredSpans {
    /// Spans that were not known.
    pub stored: u64,
    /// Spans that were stored before.
    pub repeated: u64,
    /// Spans with the id of a stored one and other content, which are refused.
    pub conflicting: u64,
    /// Spans of traces that were already left out. They are read again on their own.
    pub late: u64,
    /// Spans beyond the limits of their trace, which are refused.
    pub over_limit: u64,
}

/// Trace that is not decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenTrace {
    pub trace: TraceId,
    pub first_ms: u64,
    pub last_ms: u64,
    pub spans: u64,
    pub root_ended: bool,
    /// Spans that were refused, also before an earlier decision, so that the trace is incomplete.
    pub refused: u64,
}

/// Trace that was kept. The texts are JSON that the caller writes and reads.
#[derive(Debug, Clone, PartialEq)]
pub struct KeptTrace {
    pub trace: TraceId,
    /// Number in the order of decisions.
    pub seq: u64,
    /// Arrival of its spans, seconds since 1970. The clock of the sender decides on no window.
    pub at_s: u64,
    /// The trace is in the uniform sample.
    pub sampled: bool,
    /// Probability with which it is kept.
    pub probability: f64,
    /// Rules that keep it, separated by spaces; empty if only the sample does.
    pub reasons: String,
    pub facts: String,
    pub scores: String,
    pub transcript: String,
}

/// Decision on a trace.
#[derive(Debug, Clone, PartialEq)]
pub enum TraceDecision {
    /// Keeps the trace; `seq` is assigned by the store.
    Keep(Box<KeptTrace>),
    Drop,
    /// Leaves out a trace whose spans cannot be read.
    Unreadable,
}

/// Alert in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredAlert {
    pub n: u64,
    pub key: String,
    /// Seconds since 1970.
    pub raised_s: u64,
    /// JSON.
    pub body: String,
    pub sent_s: Option<u64>,
}

/// Counted thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProductionCounter {
    SpansStored,
    SpansRepeated,
    SpansConflicting,
    SpansLate,
    SpansOverLimit,
    TracesSampled,
    TracesKept,
    /// Readings of kept traces; a trace with late spans is read again.
    TracesScored,
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
        ProductionCounter::SpansConflicting,
        ProductionCounter::SpansLate,
        ProductionCounter::SpansOverLimit,
        ProductionCounter::TracesSampled,
        ProductionCounter::TracesKept,
        ProductionCounter::TracesScored,
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
            ProductionCounter::SpansConflicting => "spans_conflicting",
            ProductionCounter::SpansLate => "spans_late",
            ProductionCounter::SpansOverLimit => "spans_over_limit",
            ProductionCounter::TracesSampled => "traces_sampled",
            ProductionCounter::TracesKept => "traces_kept",
            ProductionCounter::TracesScored => "traces_scored",
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

/// Money that may be spent in one day, in nanodollars.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DayLimit {
    /// Days since 1970, UTC.
    pub day: u64,
    pub nanos: u64,
}

/// Answer to a reservation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallReservation {
    Reserved,
    /// The rest of the day's money does not cover the call.
    TooLittle {
        left: u64,
    },
}

/// Answer of a judge to be stored. The texts are JSON that the caller writes and reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewJudgement {
    pub trace: TraceId,
    /// Begin of the trace, seconds since 1970.
    pub at_s: u64,
    /// The trace is in the uniform sample.
    pub sampled: bool,
    pub question: String,
    /// Answer as the judge gave it, or the reason why there is none.
    pub answer: String,
    /// Reading of the answer.
    pub score: String,
}

/// Stored answer with its number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredJudgement {
    pub n: u64,
    pub judgement: NewJudgement,
}

/// Transaction whose receipt is not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedReceipt {
    pub chain: u64,
    /// Lower-case hex with prefix.
    pub hash: String,
    /// Attempts that failed.
    pub attempts: u32,
}

/// Knowledge about a transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReceiptState {
    Wanted,
    /// Final answer as JSON, which the caller writes and reads.
    Known(String),
}

/// Transaction that a trace names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceiptClaim {
    pub state: ReceiptState,
    /// Another trace that named it before.
    pub other: Option<TraceId>,
    /// Time at which it was named first, milliseconds since 1970.
    pub wanted_ms: u64,
}

/// Value that one transaction took from a wallet.
#[derive(Debug, Clone, PartialEq)]
pub struct WalletSpending {
    pub chain: u64,
    /// Lower-case hex with prefix.
    pub hash: String,
    pub wallet: String,
    /// Order of transactions of one block.
    pub nonce: u64,
    /// Time of its block, seconds since 1970.
    pub at_s: u64,
    /// Millionths of a dollar; absent if the value is not known.
    pub micros: Option<u64>,
}

/// Spending of a wallet in a day, held against a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DaySpending {
    Within,
    /// Millionths of a dollar that are over the limit.
    Over {
        micros: u64,
    },
    /// A transaction of the day has no known value.
    Unknown,
}

/// Time that is noted in the store. It only grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreMark {
    /// Arrival of the newest trace that was removed for its size, seconds since 1970.
    RemovedUntil,
    /// Last step of a collector, seconds since 1970.
    Worked,
}

impl StoreMark {
    pub(super) fn word(self) -> &'static str {
        match self {
            StoreMark::RemovedUntil => "removed_until",
            StoreMark::Worked => "worked",
        }
    }
}

/// Time in which no collector worked, seconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkOutage {
    pub from_s: u64,
    pub to_s: u64,
}

/// Number of removed traces.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RetentionResult {
    pub by_age: u64,
    pub by_size: u64,
}
