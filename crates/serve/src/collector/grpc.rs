//! OTLP/gRPC: one unary method over HTTP/2, with the same limits as HTTP.

use super::metrics::RefusalKind;
use super::protobuf;
use super::state::{CollectorRefusal, CollectorState};
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::header::{CONTENT_TYPE, HeaderMap, HeaderName};
use axum::http::{HeaderValue, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use std::convert::Infallible;
use std::sync::Arc;

/// Path of `TraceService.Export`.
pub(super) const EXPORT_PATH: &str = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";

const STATUS: HeaderName = HeaderName::from_static("grpc-status");
const MESSAGE: HeaderName = HeaderName::from_static("grpc-message");
const ENCODING: HeaderName = HeaderName::from_static("grpc-encoding");
const RETRY_INFO: HeaderName = HeaderName::from_static("grpc-status-details-bin");
/// Flag and length before a message.
const PREFIX: usize = 5;
const OK: u8 = 0;

/// `google.rpc.Status` with code RESOURCE_EXHAUSTED and a `RetryInfo` of one second, in base64: clients retry only with it.
const RETRY_IN_ONE_SECOND: &str = "CAgSBGJ1c3kaMAoodHlwZS5nb29nbGVhcGlzLmNvbS9nb29nbGUucnBjLlJldHJ5SW5mbxIECgIIAQ";

pub(super) async fn export(State(state): State<Arc<CollectorState>>, request: Request) -> Response<Body> {
    match receive(&state, request).await {
        Ok(message) => {
            let mut framed = vec![0; PREFIX];
            framed[1..].copy_from_slice(&u32::try_from(message.len()).unwrap_or_default().to_be_bytes());
            framed.extend(message);
            answer(framed.into(), OK, "", false)
        }
        Err(refusal) => {
            state.metrics.count_refusal(refusal.kind, 1);
            let can_retry = matches!(refusal.kind, RefusalKind::Busy | RefusalKind::StoreFailed);
            answer(Bytes::new(), code(refusal.kind), &refusal.why, can_retry)
        }
    }
}

async fn receive(state: &CollectorState, request: Request) -> Result<Vec<u8>, CollectorRefusal> {
    let is_gzip = |headers: &HeaderMap| Ok(headers.get(ENCODING).is_some_and(|encoding| encoding.as_bytes() == b"gzip"));
    let (is_gzip, request) = state.check_head(request, is_gzip).await?;
    let (body, _pending) = state.read_body(request).await?;
    let malformed = || CollectorRefusal::new(RefusalKind::Malformed, "the body is not one gRPC message");
    let (flag, message) = unframe(&body).ok_or_else(malformed)?;
    let (message, _unpacked) = match (flag, is_gzip) {
        (0, _) => (body.slice(PREFIX..), None),
        (1, true) => state.unpack(message)?,
        (_, _) => return Err(CollectorRefusal::new(RefusalKind::Unsupported, "send messages plain or as gzip")),
    };
    let received = protobuf::read_request(&message, &state.redactor, &state.limits);
    drop(message);
    Ok(state.store(received).await?.message())
}

/// Returns the flag and the message of a body that is one gRPC message.
pub(super) fn unframe(body: &[u8]) -> Option<(u8, &[u8])> {
    let ([flag, size @ ..], message) = body.split_first_chunk::<PREFIX>()?;
    (usize::try_from(u32::from_be_bytes(*size)) == Ok(message.len())).then_some((*flag, message))
}

/// Returns the status code of gRPC.
fn code(kind: RefusalKind) -> u8 {
    match kind {
        RefusalKind::Malformed | RefusalKind::Spans => 3,
        RefusalKind::Timeout => 4,
        RefusalKind::TooLarge => 3,
        RefusalKind::Busy => 8,
        RefusalKind::Unsupported => 12,
        RefusalKind::StoreFailed => 14,
        RefusalKind::Unauthorized => 16,
    }
}

fn answer(body: Bytes, code: u8, why: &str, can_retry: bool) -> Response<Body> {
    let mut trailers = HeaderMap::new();
    trailers.insert(STATUS, HeaderValue::from(u16::from(code)));
    let printable: String = why.chars().filter(|c| c.is_ascii_graphic() || *c == ' ').filter(|c| *c != '%').take(300).collect();
    if let Ok(message) = HeaderValue::from_str(&printable)
        && !printable.is_empty()
    {
        trailers.insert(MESSAGE, message);
    }
    if can_retry {
        trailers.insert(RETRY_INFO, HeaderValue::from_static(RETRY_IN_ONE_SECOND));
    }
    let body = Full::new(body).with_trailers(async move { Some(Ok::<_, Infallible>(trailers)) });
    let mut response = Response::new(Body::new(body));
    *response.status_mut() = StatusCode::OK;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
    response
}
