//! HTTP client for the SDK's streamable HTTP transport, with size limits. The SDK's own client reads JSON replies without a limit.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::StreamExt;
use futures::stream::BoxStream;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue};
use reqwest::{Response, StatusCode, Url};
use rmcp::ErrorData;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, JsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::common::client_side_sse::NeverRetry;
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpClientTransportConfig, StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::{Sse, SseStream};

use super::diagnostics::StreamDiagnostics;
use super::error::{BoundedQuantity, McpFault, check_limit};
use super::limits::McpLimits;
use super::printable::printable;

const SESSION_HEADER: &str = "mcp-session-id";

type CustomHeaders = HashMap<HeaderName, HeaderValue>;
type HttpClientError = StreamableHttpError<McpFault>;

pub(super) fn connect(
    url: &str,
    limits: McpLimits,
    notes: StreamDiagnostics,
) -> Result<StreamableHttpClientTransport<BoundedHttpClient>, McpFault> {
    let unreachable = |why: String| McpFault::Unreachable { why };
    let parsed = Url::parse(url).map_err(|error| unreachable(error.to_string()))?;
    if !matches!(parsed.scheme(), "http" | "https") {
        return Err(unreachable("the URL must start with http:// or https://".to_owned()));
    }
    // Building a client without a crypto provider panics. The first to install one wins, so this never overrides `main`.
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        let _ = rustls::crypto::ring::default_provider().install_default();
    }
    // No proxy and no redirects: requests go only to the configured host.
    let client = reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none()).pool_max_idle_per_host(0);
    let client = client.build().map_err(|error| unreachable(error_cause(&error)))?;
    let mut config = StreamableHttpClientTransportConfig::with_uri(url).reinit_on_expired_session(false);
    config.retry_config = Arc::new(NeverRetry::default());
    Ok(StreamableHttpClientTransport::with_client(BoundedHttpClient { client, limits, notes, total: Arc::default() }, config))
}

/// Returns the URL without user, password and query, which may be secrets.
pub(super) fn display_url(url: &str) -> String {
    let Ok(mut url) = Url::parse(url) else {
        return printable(url, 200);
    };
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    printable(url.as_str(), 200)
}

#[derive(Debug, Clone)]
pub(super) struct BoundedHttpClient {
    client: reqwest::Client,
    limits: McpLimits,
    notes: StreamDiagnostics,
    total: Arc<AtomicUsize>,
}

impl BoundedHttpClient {
    fn fail(&self, fault: McpFault) -> HttpClientError {
        self.notes.record_fault(fault.clone());
        StreamableHttpError::Client(fault)
    }

    /// Adds a chunk to the sizes of its reply (`length`) and of all replies, and checks both limits.
    fn count(&self, length: &mut usize, chunk: &[u8]) -> Result<(), McpFault> {
        *length += chunk.len();
        let total = self.total.fetch_add(chunk.len(), Ordering::Relaxed) + chunk.len();
        let counted = check_limit(*length, self.limits.message_bytes, BoundedQuantity::Message)
            .and_then(|()| check_limit(total, self.limits.total_bytes, BoundedQuantity::Total));
        counted.inspect_err(|fault| self.notes.record_fault(fault.clone()))
    }

    async fn body(&self, mut response: Response) -> Result<Vec<u8>, HttpClientError> {
        let (mut body, mut length) = (Vec::new(), 0);
        while let Some(chunk) = response.chunk().await.map_err(|error| self.fail(McpFault::Unreachable { why: error_cause(&error) }))? {
            self.count(&mut length, &chunk).map_err(StreamableHttpError::Client)?;
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }

    fn events(&self, response: Response) -> BoxStream<'static, Result<Sse, SseError>> {
        let (http, mut length) = (self.clone(), 0);
        let chunks = response.bytes_stream().map(move |chunk| {
            let chunk = chunk.map_err(|error| McpFault::Unreachable { why: error_cause(&error) })?;
            http.count(&mut length, &chunk)?;
            Ok::<_, McpFault>(chunk)
        });
        SseStream::from_bytes_stream(chunks).boxed()
    }

    fn parse_reply(
        &self,
        body: &[u8],
        message: &ClientJsonRpcMessage,
        session: Option<String>,
    ) -> Result<StreamableHttpPostResponse, HttpClientError> {
        match serde_json::from_slice(body) {
            Ok(reply) => Ok(StreamableHttpPostResponse::Json(reply, session)),
            // The reply to a notification is ignored, so it may be invalid.
            Err(_) if !matches!(message, JsonRpcMessage::Request(_)) => Ok(StreamableHttpPostResponse::Accepted),
            Err(_) => Err(self.fail(McpFault::NotMcp { why: format!("it answered {}", body_excerpt(body)) })),
        }
    }

    fn parse_error_reply(
        &self,
        status: StatusCode,
        body: &[u8],
        message: &ClientJsonRpcMessage,
    ) -> Result<StreamableHttpPostResponse, HttpClientError> {
        let error = match serde_json::from_slice(body) {
            Ok(ServerJsonRpcMessage::Error(error)) => Some(error.error),
            Ok(_) | Err(_) => None,
        };
        let final_status = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) || !status.is_client_error();
        if let (JsonRpcMessage::Request(request), false) = (message, final_status) {
            // Older servers answer 400 to `discover`, because they have no session yet. A JSON-RPC error makes the SDK fall back to
            // `initialize`.
            let old = matches!(request.request, ClientRequest::DiscoverRequest(_)).then(|| ErrorData::invalid_request("HTTP error", None));
            if let Some(error) = error.or(old) {
                return Ok(StreamableHttpPostResponse::Json(ServerJsonRpcMessage::error(error, Some(request.id.clone())), None));
            }
        }
        Err(self.fail(McpFault::Status { status: status.as_u16(), said: body_excerpt(body) }))
    }
}

impl StreamableHttpClient for BoundedHttpClient {
    type Error = McpFault;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        _: Option<String>,
        headers: CustomHeaders,
    ) -> Result<StreamableHttpPostResponse, HttpClientError> {
        let mut request =
            self.client.post(uri.as_ref()).header(ACCEPT, "application/json, text/event-stream").headers(headers.into_iter().collect());
        if let Some(session) = session {
            request = request.header(SESSION_HEADER, session.as_ref());
        }
        let response =
            request.json(&message).send().await.map_err(|error| self.fail(McpFault::Unreachable { why: error_cause(&error) }))?;
        let status = response.status();
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        let header = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let session = header(SESSION_HEADER);
        if status.is_success() && header(CONTENT_TYPE.as_str()).is_some_and(|kind| kind.starts_with("text/event-stream")) {
            return Ok(StreamableHttpPostResponse::Sse(self.events(response), session));
        }
        let body = self.body(response).await?;
        if status.is_success() { self.parse_reply(&body, &message, session) } else { self.parse_error_reply(status, &body, &message) }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        _: Option<String>,
        headers: CustomHeaders,
    ) -> Result<(), HttpClientError> {
        let request = self.client.delete(uri.as_ref()).header(SESSION_HEADER, session.as_ref()).headers(headers.into_iter().collect());
        request.send().await.map_err(|error| StreamableHttpError::Client(McpFault::Unreachable { why: error_cause(&error) }))?;
        Ok(())
    }

    // Server notifications are not needed, and a resumable stream has no end.
    async fn get_stream(
        &self,
        _: Arc<str>,
        _: Option<Arc<str>>,
        _: Option<String>,
        _: Option<String>,
        _: CustomHeaders,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, HttpClientError> {
        Err(StreamableHttpError::ServerDoesNotSupportSse)
    }
}

fn body_excerpt(body: &[u8]) -> String {
    let head = &body[..body.len().min(1024)];
    if head.trim_ascii().is_empty() { "nothing".to_owned() } else { printable(&String::from_utf8_lossy(head), 200) }
}

/// Returns the innermost cause of an error: reqwest keeps "connection refused" three causes deep.
fn error_cause(error: &reqwest::Error) -> String {
    let mut text = String::new();
    let mut cause: Option<&dyn std::error::Error> = std::error::Error::source(error);
    while let Some(error) = cause {
        text = error.to_string();
        cause = error.source();
    }
    if text.is_empty() { printable(&error.to_string(), 300) } else { printable(&text, 300) }
}
