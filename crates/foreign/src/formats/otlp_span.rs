//! Span of an OTLP/JSON trace.

use super::otlp_attributes::attributes;
use super::otlp_messages::plain_text;
use crate::content::string;
use serde_json::{Map, Value};

/// Span with its attributes converted.
#[derive(Debug)]
pub(crate) struct OtlpSpan {
    pub(super) id: String,
    pub(super) parent: Option<String>,
    pub(super) name: String,
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) attributes: Map<String, Value>,
    pub(super) written: Value,
    size: usize,
}

impl OtlpSpan {
    /// Returns about the memory that the span takes, in bytes of JSON.
    pub(crate) fn size(&self) -> usize {
        self.size
    }
}

pub(super) fn trace_span(written: Value) -> Option<(String, OtlpSpan)> {
    let nanos = |key: &str| match written.get(key) {
        Some(Value::String(text)) => text.parse().unwrap_or(0),
        Some(other) => other.as_u64().unwrap_or(0),
        None => 0,
    };
    let trace = string(&written, "traceId")?.to_owned();
    let span = OtlpSpan {
        id: string(&written, "spanId")?.to_owned(),
        parent: string(&written, "parentSpanId").filter(|parent| !parent.is_empty()).map(str::to_owned),
        name: string(&written, "name").unwrap_or_default().to_owned(),
        start: nanos("startTimeUnixNano"),
        end: nanos("endTimeUnixNano"),
        attributes: attributes(&written),
        size: text_size(&written),
        written,
    };
    Some((trace, span))
}

pub(super) fn is_failed(span: &OtlpSpan) -> bool {
    let code = span.written.get("status").and_then(|status| status.get("code"));
    span.attributes.contains_key("error.type")
        || code.is_some_and(|code| code.as_u64() == Some(2) || code.as_str() == Some("STATUS_CODE_ERROR"))
}

pub(super) fn failure_text(span: &OtlpSpan) -> String {
    let message = span.written.get("status").and_then(|status| string(status, "message")).filter(|text| !text.is_empty());
    message.map_or_else(|| plain_text(span.attributes.get("error.type")), str::to_owned)
}

/// Returns the length of all texts of a value, and a few bytes for each value.
fn text_size(value: &Value) -> usize {
    const VALUE: usize = 32;
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => VALUE,
        Value::String(text) => VALUE + text.len(),
        Value::Array(items) => VALUE + items.iter().map(text_size).sum::<usize>(),
        Value::Object(members) => VALUE + members.iter().map(|(key, value)| VALUE + key.len() + text_size(value)).sum::<usize>(),
    }
}
