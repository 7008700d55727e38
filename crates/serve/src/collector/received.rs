//! Spans of one request, ready to be stored.

use std::collections::BTreeMap;
use store::production::{NewSpan, TraceId};

/// Spans of a request that are within the limits, and the number of those that are not.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ReceivedSpans {
    pub spans: Vec<NewSpan>,
    pub refused: u64,
    /// Traces of refused spans, with their number. Not every refused span has a trace id that can be read.
    pub incomplete: BTreeMap<TraceId, u64>,
    /// Reason of the first refusal.
    pub why: Option<SpanRefusal>,
}

/// Reason why a span is not stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum SpanRefusal {
    #[error("a span has no valid trace id and span id")]
    Ids,
    #[error("a span has too many attributes")]
    TooManyValues,
    #[error("an attribute is nested too deeply")]
    TooDeep,
    #[error("a span is too large")]
    TooLarge,
    #[error("a text is not UTF-8")]
    NotUtf8,
}

impl ReceivedSpans {
    pub(super) fn refuse(&mut self, why: SpanRefusal, trace: Option<TraceId>) {
        self.refused += 1;
        self.why.get_or_insert(why);
        if let Some(trace) = trace {
            *self.incomplete.entry(trace).or_default() += 1;
        }
    }
}

/// Request that is refused as a whole.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum RequestError {
    #[error("the body is not a request of OTLP traces: {0}")]
    Malformed(String),
    #[error("the request has more than {0} spans")]
    TooManySpans(usize),
}

/// Returns an id of `N` bytes; none if it is all zeros or has another size.
pub(super) fn id<const N: usize>(bytes: &[u8]) -> Option<[u8; N]> {
    <[u8; N]>::try_from(bytes).ok().filter(|id| id.iter().any(|byte| *byte != 0))
}
