//! Checks before the routes: Host and Origin headers, size and time of the body.

use std::net::SocketAddr;
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{Request, State};
use axum::http::header::{HOST, HeaderMap, HeaderValue, ORIGIN, X_CONTENT_TYPE_OPTIONS};
use axum::http::{StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures::StreamExt;

/// Bytes of an oversized body that are read and dropped, so that the client can read the response.
const MAX_DRAINED_BYTES: usize = 16 * 1024 * 1024;
/// Timeout for the head of a request, for its body, and for writes to a client that does not read.
pub(super) const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// Response to a refused request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct HttpRefusal {
    status: StatusCode,
    why: &'static str,
}

impl IntoResponse for HttpRefusal {
    fn into_response(self) -> Response {
        (self.status, self.why).into_response()
    }
}

pub(super) fn refusal(status: StatusCode, why: &'static str) -> HttpRefusal {
    HttpRefusal { status, why }
}

/// Middleware that refuses requests with another host than `at`, and requests from web pages.
pub(super) async fn require_local_host(State(at): State<SocketAddr>, request: Request, next: Next) -> Response {
    let mut response = match check_local(at, request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(refused) => refused.into_response(),
    };
    response.headers_mut().insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// Protects against DNS rebinding: a web page whose name resolves to this machine still sends that name and its origin.
fn check_local(at: SocketAddr, uri: &Uri, headers: &HeaderMap) -> Result<(), HttpRefusal> {
    let ours =
        |authority: &str| [format!("{at}"), format!("localhost:{}", at.port())].iter().any(|own| own.eq_ignore_ascii_case(authority));
    let mut hosts = headers.get_all(HOST).iter();
    let host = hosts.next().and_then(|host| host.to_str().ok()).is_some_and(ours) && hosts.next().is_none();
    if !host || uri.authority().is_some_and(|authority| !ours(authority.as_str())) {
        return Err(refusal(StatusCode::FORBIDDEN, "the Host header does not match this server"));
    }
    // Only browsers send it. Our own pages are refused too: their content may be hostile, and their URL contains the token.
    if headers.contains_key(ORIGIN) {
        return Err(refusal(StatusCode::FORBIDDEN, "requests from web pages (with an Origin header) are not allowed"));
    }
    Ok(())
}

/// Reads a body of at most `limit` bytes within [`REQUEST_TIMEOUT`].
pub(super) async fn read_body(body: Body, limit: usize) -> Result<Bytes, HttpRefusal> {
    let too_large = || refusal(StatusCode::PAYLOAD_TOO_LARGE, "the request body is too large");
    if body.size_hint().lower() > MAX_DRAINED_BYTES as u64 {
        return Err(too_large());
    }
    let mut chunks = body.into_data_stream();
    let reading = async {
        let (mut kept, mut seen) = (Vec::new(), 0_usize);
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk.map_err(|_| refusal(StatusCode::BAD_REQUEST, "the request body is incomplete"))?;
            seen = seen.saturating_add(chunk.len());
            if seen > MAX_DRAINED_BYTES {
                return Err(too_large());
            }
            if seen <= limit {
                kept.extend_from_slice(&chunk);
            }
        }
        if seen > limit { Err(too_large()) } else { Ok(Bytes::from(kept)) }
    };
    let late = |_| refusal(StatusCode::REQUEST_TIMEOUT, "timeout while reading the request body");
    tokio::time::timeout(REQUEST_TIMEOUT, reading).await.map_err(late)?
}

#[cfg(test)]
mod tests {
    use super::{HeaderMap, HeaderValue, Uri, check_local};

    fn is_refused(uri: &str, headers: &[(&'static str, &'static str)]) -> bool {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, HeaderValue::from_static(value));
        }
        check_local("127.0.0.1:4000".parse().unwrap(), &Uri::try_from(uri).unwrap(), &map).is_err()
    }

    #[test]
    fn requests_with_another_host_are_refused() {
        for host in ["127.0.0.1:4000", "localhost:4000", "LOCALHOST:4000"] {
            assert!(!is_refused("/x", &[("host", host)]), "{host}");
        }
        for host in ["evil.example:4000", "127.0.0.1", "127.0.0.1:4001", "localhost", "localhost:4000.evil.example", ""] {
            assert!(is_refused("/x", &[("host", host)]), "{host}");
        }
        assert!(is_refused("/x", &[]));
        assert!(is_refused("/x", &[("host", "localhost:4000"), ("host", "evil.example")]));
        assert!(is_refused("http://evil.example/x", &[("host", "localhost:4000")]));
    }

    #[test]
    fn requests_with_origin_header_are_refused() {
        for origin in ["http://evil.example", "null", "http://127.0.0.1:4000", ""] {
            assert!(is_refused("/x", &[("host", "127.0.0.1:4000"), ("origin", origin)]), "{origin}");
        }
    }
}
