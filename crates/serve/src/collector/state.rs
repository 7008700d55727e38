//! State that all requests share, and the way of a body to the sink.

use super::ClockMs;
use super::access::Access;
use super::gzip::{self, GzipError};
use super::limits::CollectorLimits;
use super::metrics::{CollectorMetrics, RefusalKind};
use super::received::{ReceivedSpans, RequestError};
use super::redaction::Redactor;
use super::sink::{SinkError, SpanSink};
use super::wire::WireWriter;
use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::header::{AUTHORIZATION, CONTENT_LENGTH, EXPECT, HeaderMap, RETRY_AFTER};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use http_body_util::{BodyExt, Limited};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use store::production::{ProductionStore, SpanBatch};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Parts that all requests share.
#[derive(Debug)]
pub(super) struct CollectorState {
    pub sink: SpanSink,
    pub access: Access,
    pub limits: CollectorLimits,
    pub redactor: Redactor,
    pub metrics: CollectorMetrics,
    pub clock: CollectorClock,
    /// Connection for metrics.
    pub store: Mutex<ProductionStore>,
    /// One permit per KiB of pending requests.
    pub pending: Arc<Semaphore>,
}

/// Clock with a name for debug output.
#[derive(Clone)]
pub(super) struct CollectorClock(pub ClockMs);

impl std::fmt::Debug for CollectorClock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CollectorClock")
    }
}

/// Answer to a request that is refused as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CollectorRefusal {
    pub kind: RefusalKind,
    pub why: String,
}

impl CollectorRefusal {
    pub(super) fn new(kind: RefusalKind, why: impl ToString) -> Self {
        Self { kind, why: why.to_string() }
    }

    fn status(&self) -> StatusCode {
        match self.kind {
            RefusalKind::Unauthorized => StatusCode::UNAUTHORIZED,
            RefusalKind::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            RefusalKind::Malformed | RefusalKind::Spans => StatusCode::BAD_REQUEST,
            RefusalKind::Unsupported => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            RefusalKind::Busy => StatusCode::TOO_MANY_REQUESTS,
            RefusalKind::Timeout => StatusCode::REQUEST_TIMEOUT,
            RefusalKind::StoreFailed => StatusCode::SERVICE_UNAVAILABLE,
        }
    }
}

impl IntoResponse for CollectorRefusal {
    fn into_response(self) -> Response {
        let mut response = (self.status(), self.why).into_response();
        if matches!(self.kind, RefusalKind::Busy | RefusalKind::StoreFailed) {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}

/// Result of a request whose spans are durable.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct AcceptedSpans {
    pub refused: u64,
    pub why: String,
}

impl AcceptedSpans {
    /// Returns `ExportTraceServiceResponse`.
    pub(super) fn message(&self) -> Vec<u8> {
        let mut response = WireWriter::default();
        if self.refused > 0 {
            let mut partial = WireWriter::default();
            partial.number(1, self.refused);
            partial.text(2, self.why.as_bytes());
            response.text(1, &partial.bytes);
        }
        response.bytes
    }
}

/// Most bytes and longest time that the rest of a refused request is read for.
const DISCARDED_BYTES: usize = 64 << 10;
const DISCARD_TIME: Duration = Duration::from_secs(1);

/// Most bytes of a body beyond its bound that are read from a client that may send spans.
const DRAINED_BYTES: usize = 256 << 20;

/// Bytes of a body that are reserved before the first of them arrives.
const FIRST_SHARE: usize = 64 << 10;

fn merged(held: Option<OwnedSemaphorePermit>, more: OwnedSemaphorePermit) -> Option<OwnedSemaphorePermit> {
    match held {
        Some(mut held) => {
            held.merge(more);
            Some(held)
        }
        None => Some(more),
    }
}

/// Reads and drops the body of a refused request. An answer before the end of the body resets the connection or the stream, and clients that
/// still send report a broken one instead of the answer.
async fn discard_body(body: Body, bytes: usize, time: Duration) {
    let mut body = Limited::new(body, bytes);
    let reading = async { while let Some(Ok(_)) = body.frame().await {} };
    // A larger or slower body gets the answer as it is.
    drop(tokio::time::timeout(time, reading).await);
}

impl CollectorState {
    pub(super) fn authorize(&self, headers: &HeaderMap) -> Result<(), CollectorRefusal> {
        let given = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        if self.access.allows(given) {
            return Ok(());
        }
        Err(CollectorRefusal::new(RefusalKind::Unauthorized, "a valid bearer token is required"))
    }

    /// Checks the head of a request before its body is read. Returns what the check returns, with the request.
    pub(super) async fn check_head<T>(
        &self,
        request: Request,
        check: impl FnOnce(&HeaderMap) -> Result<T, CollectorRefusal>,
    ) -> Result<(T, Request), CollectorRefusal> {
        match self.authorize(request.headers()).and_then(|()| check(request.headers())) {
            Ok(checked) => Ok((checked, request)),
            Err(refusal) => {
                discard_body(request.into_body(), DISCARDED_BYTES, DISCARD_TIME).await;
                Err(refusal)
            }
        }
    }

    /// Reads a body within the limits of size and time, and holds its share of the pending bytes.
    pub(super) async fn read_body(&self, request: Request) -> Result<(Bytes, Option<OwnedSemaphorePermit>), CollectorRefusal> {
        let too_large = || CollectorRefusal::new(RefusalKind::TooLarge, format!("the body has more than {} bytes", self.limits.body_bytes));
        let length = request.headers().get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
        // A client that asks before it sends gets the answer at once.
        let asks_first = request.headers().contains_key(EXPECT);
        if length.is_some_and(|length| length > self.limits.body_bytes) {
            if !asks_first {
                discard_body(request.into_body(), DRAINED_BYTES, self.limits.request_timeout).await;
            }
            return Err(too_large());
        }
        let mut body = request.into_body();
        let reading = async {
            let (mut read, mut reserved, mut pending) = (vec![], 0, None);
            loop {
                // Bytes that are only announced take no share from other clients.
                if pending.is_none() || read.len() > reserved {
                    let wanted = (2 * read.len()).max(FIRST_SHARE).min(length.unwrap_or(usize::MAX)).max(read.len());
                    match self.reserve(wanted - reserved) {
                        Ok(more) => pending = merged(pending, more),
                        Err(busy) => {
                            drop((read, pending));
                            // Without the answer the client would not know that it may come again.
                            discard_body(body, self.limits.body_bytes, DISCARD_TIME).await;
                            return Err(busy);
                        }
                    }
                    reserved = wanted;
                }
                let Some(frame) = body.frame().await else { break };
                let frame = frame.map_err(|_| CollectorRefusal::new(RefusalKind::Malformed, "the body is incomplete"))?;
                let Ok(data) = frame.into_data() else { continue };
                if read.len() + data.len() > self.limits.body_bytes {
                    drop((read, pending));
                    discard_body(body, DRAINED_BYTES, self.limits.request_timeout).await;
                    return Err(too_large());
                }
                read.extend_from_slice(&data);
            }
            Ok((Bytes::from(read), pending))
        };
        let late = |_| CollectorRefusal::new(RefusalKind::Timeout, "the body took too long");
        tokio::time::timeout(self.limits.request_timeout, reading).await.map_err(late)?
    }

    pub(super) fn unpack(&self, body: &[u8]) -> Result<(Bytes, Option<OwnedSemaphorePermit>), CollectorRefusal> {
        let unpacked = gzip::unpack(body, self.limits.unpacked_bytes).map_err(|error| {
            let kind = match error {
                GzipError::Malformed => RefusalKind::Malformed,
                GzipError::TooLarge => RefusalKind::TooLarge,
            };
            CollectorRefusal::new(kind, error)
        })?;
        let pending = self.reserve(unpacked.len())?;
        Ok((Bytes::from(unpacked), Some(pending)))
    }

    /// Reserves memory for a request; twice its bytes, for the spans that are made of it.
    fn reserve(&self, bytes: usize) -> Result<OwnedSemaphorePermit, CollectorRefusal> {
        let permits = u32::try_from(bytes.saturating_mul(2) / 1024 + 1).unwrap_or(u32::MAX);
        let busy = |_| CollectorRefusal::new(RefusalKind::Busy, "too many requests are pending");
        self.pending.clone().try_acquire_many_owned(permits).map_err(busy)
    }

    pub(super) async fn store(&self, received: Result<ReceivedSpans, RequestError>) -> Result<AcceptedSpans, CollectorRefusal> {
        let received = received.map_err(|error| {
            let kind = match error {
                RequestError::Malformed(_) => RefusalKind::Malformed,
                RequestError::TooManySpans(_) => RefusalKind::TooLarge,
            };
            CollectorRefusal::new(kind, error)
        })?;
        let count = received.spans.len() as u64;
        let mut accepted = AcceptedSpans { refused: received.refused, why: received.why.map(|why| why.to_string()).unwrap_or_default() };
        let batch = SpanBatch { spans: received.spans, refused: received.incomplete.into_iter().collect() };
        if !batch.is_empty() {
            let stored = self.sink.store(batch).await.map_err(|error| {
                let kind = match error {
                    SinkError::Busy => RefusalKind::Busy,
                    SinkError::Failed => RefusalKind::StoreFailed,
                };
                CollectorRefusal::new(kind, error)
            })?;
            let lost = [
                (stored.conflicting, "a span has the id of another one with other content"),
                (stored.over_limit, "a trace has too many spans or bytes"),
            ];
            for (spans, why) in lost.into_iter().filter(|(spans, _)| *spans > 0) {
                accepted.refused += spans;
                accepted.why = why.to_owned();
            }
        }
        self.metrics.count_request(count);
        self.metrics.count_refusal(RefusalKind::Spans, accepted.refused);
        Ok(accepted)
    }
}
