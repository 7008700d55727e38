//! Reads a trace in the way that its sender deserves: as a trial of ours, as an export of ours, or by the conventions alone.

use super::otlp::read_conventions;
use super::otlp_exported::{TRIAL_KEY, is_exported, read_exported};
use super::otlp_span::OtlpSpan;
use super::{ItemError, jsonl};
use crate::problem::LogPlace;
use crate::recording::LogRecording;
use serde_json::Value;

/// Trust in what spans state and only an observer can know: decisions, signatures, effects, and a whole trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaimTrust {
    Trusted,
    Ignored,
}

/// Makes a recording of the spans of a trace.
pub(crate) fn read_trace(trace: &str, spans: Vec<OtlpSpan>, at: &LogPlace, trust: ClaimTrust) -> Result<LogRecording, ItemError> {
    if trust == ClaimTrust::Trusted {
        if let Some(trial) = spans.iter().find_map(|span| span.attributes.get(TRIAL_KEY)).and_then(Value::as_str) {
            return jsonl::read(trial.as_bytes(), at);
        }
        if is_exported(&spans) {
            return read_exported(&spans, at);
        }
    }
    read_conventions(trace, spans, at)
}
