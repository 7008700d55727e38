//! HTTP routes of the collector.

use super::grpc;
use super::metrics::RefusalKind;
use super::state::{AcceptedSpans, CollectorRefusal, CollectorState};
use super::{json_request, protobuf};
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use std::sync::{Arc, PoisonError};
use store::production::SpanBatch;

pub(super) fn router(state: Arc<CollectorState>) -> Router {
    Router::new()
        .route("/v1/traces", post(export))
        .route(grpc::EXPORT_PATH, post(grpc::export))
        .route("/healthz", get(async || "ok\n"))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
        .with_state(state)
}

/// Encoding of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TraceEncoding {
    Protobuf,
    Json,
}

impl TraceEncoding {
    fn of(headers: &HeaderMap) -> Option<Self> {
        let kind = headers.get(CONTENT_TYPE)?.to_str().ok()?.split(';').next()?.trim().to_ascii_lowercase();
        match kind.as_str() {
            "application/x-protobuf" | "application/protobuf" => Some(TraceEncoding::Protobuf),
            "application/json" => Some(TraceEncoding::Json),
            _ => None,
        }
    }
}

async fn export(State(state): State<Arc<CollectorState>>, request: Request) -> Response {
    let encoding = TraceEncoding::of(request.headers());
    match receive_http(&state, request, encoding).await {
        Ok(accepted) => accepted_response(&accepted, encoding.unwrap_or(TraceEncoding::Protobuf)),
        Err(refusal) => {
            state.metrics.count_refusal(refusal.kind, 1);
            refusal.into_response()
        }
    }
}

fn accepted_response(accepted: &AcceptedSpans, encoding: TraceEncoding) -> Response {
    match encoding {
        TraceEncoding::Protobuf => ([(CONTENT_TYPE, "application/x-protobuf")], accepted.message()).into_response(),
        TraceEncoding::Json => {
            let partial = serde_json::json!({ "rejectedSpans": accepted.refused.to_string(), "errorMessage": accepted.why });
            let body = if accepted.refused > 0 { serde_json::json!({ "partialSuccess": partial }) } else { serde_json::json!({}) };
            ([(CONTENT_TYPE, "application/json")], body.to_string()).into_response()
        }
    }
}

async fn receive_http(
    state: &CollectorState,
    request: Request,
    encoding: Option<TraceEncoding>,
) -> Result<AcceptedSpans, CollectorRefusal> {
    let check = |headers: &HeaderMap| {
        let unsupported = |why| CollectorRefusal::new(RefusalKind::Unsupported, why);
        let encoding = encoding.ok_or_else(|| unsupported("send application/x-protobuf or application/json"))?;
        match headers.get(CONTENT_ENCODING).map(HeaderValue::as_bytes) {
            None | Some(b"" | b"identity") => Ok((encoding, false)),
            Some(b"gzip") => Ok((encoding, true)),
            Some(_) => Err(unsupported("send the body plain or as gzip")),
        }
    };
    let ((encoding, is_packed), request) = state.check_head(request, check).await?;
    let (body, _pending) = state.read_body(request).await?;
    let (body, _unpacked) = if is_packed { state.unpack(&body)? } else { (body, None) };
    let received = match encoding {
        TraceEncoding::Protobuf => protobuf::read_request(&body, &state.redactor, &state.limits),
        TraceEncoding::Json => json_request::read_request(&body, &state.redactor, &state.limits),
    };
    drop(body);
    state.store(received).await
}

/// Tells whether spans could be stored now.
async fn ready(State(state): State<Arc<CollectorState>>) -> Response {
    match state.sink.store(SpanBatch::default()).await {
        Ok(_) => "ready\n".into_response(),
        Err(error) => (StatusCode::SERVICE_UNAVAILABLE, format!("{error}\n")).into_response(),
    }
}

async fn metrics(State(state): State<Arc<CollectorState>>, request: Request) -> Response {
    if let Err(refusal) = state.authorize(request.headers()) {
        return refusal.into_response();
    }
    let now = (state.clock.0)();
    let shared = state.clone();
    let text = tokio::task::spawn_blocking(move || {
        let store = shared.store.lock().unwrap_or_else(PoisonError::into_inner);
        shared.metrics.text(&store, now).map_err(|error| error.to_string())
    })
    .await;
    match text {
        Ok(Ok(text)) => ([(CONTENT_TYPE, "text/plain; version=0.0.4")], Body::from(text)).into_response(),
        Ok(Err(error)) => (StatusCode::SERVICE_UNAVAILABLE, error).into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}
