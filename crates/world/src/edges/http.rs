//! What every endpoint does with a request before it looks at its meaning: who may ask at all, and how much.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::time::Duration;

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Bytes, Incoming};
use hyper::header::{ALLOW, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN};
use hyper::{Response, StatusCode, Uri};
use serde_json::Value;

/// Bytes of one request.
pub(super) const BODY: usize = 4 * 1024 * 1024;
/// What is read and thrown away of a request that is too large, so that its sender hears why.
const DRAINED: usize = 4 * BODY;
/// For the head of a request, for its body, and for a client to take some of the answer.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

pub(super) type Answer = Response<BoxBody<Bytes, Infallible>>;

pub(super) fn answer(status: StatusCode, kind: &'static str, body: impl Into<Bytes>) -> Answer {
    let mut answer = Response::new(Full::new(body.into()).boxed());
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    answer.headers_mut().insert(HeaderName::from_static("x-content-type-options"), HeaderValue::from_static("nosniff"));
    answer
}

/// Why a request is not looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Refusal {
    status: StatusCode,
    why: &'static str,
}

impl From<Refusal> for Answer {
    fn from(refusal: Refusal) -> Self {
        answer(refusal.status, "text/plain; charset=utf-8", refusal.why)
    }
}

pub(super) fn refusal(status: StatusCode, why: &'static str) -> Answer {
    Refusal { status, why }.into()
}

pub(super) fn json(value: &Value) -> Answer {
    answer(StatusCode::OK, "application/json", value.to_string())
}

pub(super) fn only(method: &'static str) -> Answer {
    let mut answer = refusal(StatusCode::METHOD_NOT_ALLOWED, "this method is not allowed here");
    answer.headers_mut().insert(ALLOW, HeaderValue::from_static(method));
    answer
}

/// A web page that made its own name point to this machine still sends that name, and its origin.
pub(super) fn at_home(at: SocketAddr, uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
    let ours =
        |authority: &str| [format!("{at}"), format!("localhost:{}", at.port())].iter().any(|own| own.eq_ignore_ascii_case(authority));
    let mut hosts = headers.get_all(HOST).iter();
    let host = hosts.next().and_then(|host| host.to_str().ok()).is_some_and(ours) && hosts.next().is_none();
    if !host || uri.authority().is_some_and(|authority| !ours(authority.as_str())) {
        return Err(Refusal { status: StatusCode::FORBIDDEN, why: "the Host header names somebody else" });
    }
    // Programs send none. Browsers do, also from our own pages, and those may be hostile: their address holds the token.
    if headers.contains_key(ORIGIN) {
        return Err(Refusal { status: StatusCode::FORBIDDEN, why: "no web page may ask here: the request has an Origin header" });
    }
    Ok(())
}

/// The whole body, within `most` bytes and our patience.
pub(super) async fn body(mut incoming: Incoming, most: usize) -> Result<Bytes, Refusal> {
    let too_large = || Refusal { status: StatusCode::PAYLOAD_TOO_LARGE, why: "the request is too large" };
    if incoming.size_hint().lower() > DRAINED as u64 {
        return Err(too_large());
    }
    let reading = async {
        let (mut kept, mut seen) = (Vec::new(), 0_usize);
        while let Some(frame) = incoming.frame().await {
            let frame = frame.map_err(|_| Refusal { status: StatusCode::BAD_REQUEST, why: "the request ends too early" })?;
            let Some(data) = frame.data_ref() else { continue };
            seen = seen.saturating_add(data.len());
            if seen > DRAINED {
                return Err(too_large());
            }
            if seen <= most {
                kept.extend_from_slice(data);
            }
        }
        if seen > most { Err(too_large()) } else { Ok(Bytes::from(kept)) }
    };
    let late = |_| Refusal { status: StatusCode::REQUEST_TIMEOUT, why: "the request takes too long" };
    tokio::time::timeout(PATIENCE, reading).await.map_err(late)?
}

/// A path segment as it was meant, `%20` and all. `None` where it is no text.
pub(super) fn decoded(segment: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(segment.len());
    let mut rest = segment.as_bytes();
    while let [first, tail @ ..] = rest {
        let (byte, tail) = match (first, tail) {
            (b'%', [high, low, tail @ ..]) => {
                let digit = |c: u8| char::from(c).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
                (digit(*high)? * 16 + digit(*low)?, tail)
            }
            (b'%', _) => return None,
            (plain, tail) => (*plain, tail),
        };
        bytes.push(byte);
        rest = tail;
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::{HeaderMap, HeaderValue, Uri, at_home, decoded};

    fn refused(uri: &str, headers: &[(&'static str, &'static str)]) -> bool {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, HeaderValue::from_static(value));
        }
        at_home("127.0.0.1:4000".parse().unwrap(), &Uri::try_from(uri).unwrap(), &map).is_err()
    }

    #[test]
    fn only_requests_to_this_very_address_pass() {
        for host in ["127.0.0.1:4000", "localhost:4000", "LOCALHOST:4000"] {
            assert!(!refused("/x", &[("host", host)]), "{host}");
        }
        for host in ["evil.example:4000", "127.0.0.1", "127.0.0.1:4001", "localhost", "localhost:4000.evil.example", ""] {
            assert!(refused("/x", &[("host", host)]), "{host}");
        }
        assert!(refused("/x", &[]));
        assert!(refused("/x", &[("host", "localhost:4000"), ("host", "evil.example")]));
        assert!(refused("http://evil.example/x", &[("host", "localhost:4000")]));
    }

    #[test]
    fn no_page_may_ask() {
        for origin in ["http://evil.example", "null", "http://127.0.0.1:4000", ""] {
            assert!(refused("/x", &[("host", "127.0.0.1:4000"), ("origin", origin)]), "{origin}");
        }
    }

    #[test]
    fn segments_are_decoded_once() {
        assert_eq!(decoded("a%20b%2Fc%25%41"), Some("a b/c%A".to_owned()));
        assert_eq!(decoded("%C3%A4"), Some("ä".to_owned()));
        for bad in ["%", "%4", "%zz", "%ff"] {
            assert_eq!(decoded(bad), None, "{bad}");
        }
    }
}
