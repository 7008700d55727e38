//! Entry point of fuzzers: a request as a client sends it, framed by gRPC or not, plain or as gzip, in protobuf or JSON.

use super::limits::CollectorLimits;
use super::received::ReceivedSpans;
use super::redaction::Redactor;
use super::{grpc, gzip, json_request, protobuf};
use std::sync::LazyLock;

static REDACTOR: LazyLock<Redactor> = LazyLock::new(Redactor::default);

/// Unpacked bytes, fewer than those of a collector so that inputs stay fast.
const UNPACKED_BYTES: usize = 1 << 20;

/// Reads a body as a request in every encoding.
///
/// # Panics
/// If a span is stored that is not JSON, is over a limit, or is counted wrongly.
pub fn read_any_export(body: &[u8]) {
    let limits = CollectorLimits { unpacked_bytes: UNPACKED_BYTES, ..CollectorLimits::default() };
    let message = grpc::unframe(body).map_or(body, |(_, message)| message);
    let unpacked = gzip::unpack(message, limits.unpacked_bytes);
    let message = unpacked.as_deref().unwrap_or(message);
    let read = [protobuf::read_request(message, &REDACTOR, &limits), json_request::read_request(message, &REDACTOR, &limits)];
    read.iter().flatten().for_each(|received| check(received, &limits));
}

fn check(received: &ReceivedSpans, limits: &CollectorLimits) {
    assert_eq!(received.refused > 0, received.why.is_some());
    assert!(received.spans.len() <= limits.spans_per_request);
    for span in &received.spans {
        assert!(span.body.len() <= limits.span_bytes);
        let stored: serde_json::Value = serde_json::from_slice(&span.body).unwrap_or_else(|error| panic!("a span is not JSON: {error}"));
        assert!(stored["traceId"].is_string() && stored["spanId"].is_string(), "{stored}");
    }
}
