//! Bounds on what clients send.

use std::time::Duration;

/// Bounds of a collector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CollectorLimits {
    /// Bytes of a body as sent, and after decompression.
    pub body_bytes: usize,
    pub unpacked_bytes: usize,
    /// Bytes of all requests that are read or wait for their commit. Beyond, clients are told to come again.
    pub pending_bytes: usize,
    pub spans_per_request: usize,
    /// Attributes of a span and its events, nested values included.
    pub values_per_span: usize,
    /// Nesting of attribute values.
    pub value_depth: usize,
    /// Bytes of a span as stored.
    pub span_bytes: usize,
    pub spans_per_trace: u64,
    pub bytes_per_trace: u64,
    pub connections: usize,
    /// Time for the head of a request, and for all of it.
    pub request_timeout: Duration,
    /// Spans in one commit.
    pub commit_spans: usize,
}

impl Default for CollectorLimits {
    fn default() -> Self {
        Self {
            body_bytes: 8 << 20,
            unpacked_bytes: 16 << 20,
            pending_bytes: 48 << 20,
            spans_per_request: 20_000,
            values_per_span: 2_000,
            value_depth: 16,
            span_bytes: 4 << 20,
            spans_per_trace: 10_000,
            bytes_per_trace: 32 << 20,
            connections: 512,
            request_timeout: Duration::from_secs(10),
            commit_spans: 8_192,
        }
    }
}
