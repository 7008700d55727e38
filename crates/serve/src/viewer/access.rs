//! Access to the viewer: a one-time token becomes a cookie, and only requests to this host from this site are answered.

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use sha2::{Digest, Sha256};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::ViewerState;

/// Random texts of a server. The token opens the first page once; the cookie stands for it from then on.
#[derive(Clone)]
pub struct ViewerSecrets {
    pub token: String,
    pub cookie: String,
}

impl std::fmt::Debug for ViewerSecrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ViewerSecrets(…)")
    }
}

pub(super) struct AccessRules {
    token: [u8; 32],
    cookie: [u8; 32],
    cookie_text: String,
    cookie_name: String,
    hosts: [String; 2],
    is_used: AtomicBool,
}

/// Result of the check of a request.
#[derive(Debug, PartialEq, Eq)]
enum AccessDecision {
    Allowed,
    /// The token was right: set the cookie and go on to the address without it.
    LogIn {
        location: String,
    },
    Refused(StatusCode, &'static str),
}

impl AccessRules {
    pub(super) fn new(secrets: ViewerSecrets, port: u16) -> Self {
        Self {
            token: digest(&secrets.token),
            cookie: digest(&secrets.cookie),
            cookie_text: secrets.cookie,
            // Cookies do not tell ports apart.
            cookie_name: format!("bardo_eval_view_{port}"),
            hosts: [format!("127.0.0.1:{port}"), format!("localhost:{port}")],
            is_used: AtomicBool::new(false),
        }
    }

    fn decide(&self, method: &Method, path: &str, query: &str, headers: &HeaderMap) -> AccessDecision {
        let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
        // A page of another site that gets its own name resolved to this address still sends that name.
        if !text(header::HOST).is_some_and(|host| self.hosts.iter().any(|own| own == host)) {
            return AccessDecision::Refused(StatusCode::MISDIRECTED_REQUEST, "this server answers only to its own address");
        }
        if method != Method::GET && method != Method::HEAD {
            return AccessDecision::Refused(StatusCode::METHOD_NOT_ALLOWED, "pages can only be read");
        }
        let is_own = |origin: &str| self.hosts.iter().any(|own| origin.strip_prefix("http://") == Some(own));
        if text(header::ORIGIN).is_some_and(|origin| !is_own(origin)) {
            return AccessDecision::Refused(StatusCode::FORBIDDEN, "requests of other sites are refused");
        }
        let given = query.split('&').find_map(|part| part.strip_prefix("token="));
        if let Some(token) = given {
            if digest(token) != self.token || self.is_used.swap(true, Ordering::SeqCst) {
                return AccessDecision::Refused(
                    StatusCode::FORBIDDEN,
                    "the token is wrong or was used before; start bardo-eval view again for a new one",
                );
            }
            let rest: Vec<&str> = query.split('&').filter(|part| !part.starts_with("token=")).collect();
            let query = if rest.is_empty() { String::new() } else { format!("?{}", rest.join("&")) };
            // A path that starts with two slashes would name another host.
            return AccessDecision::LogIn { location: format!("/{}{query}", path.trim_start_matches('/')) };
        }
        if headers.get("sec-fetch-site").is_some_and(|site| site == "cross-site" || site == "same-site") {
            return AccessDecision::Refused(StatusCode::FORBIDDEN, "requests of other sites are refused");
        }
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let own = cookies.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
        let is_known = own.into_iter().any(|(name, value)| name == self.cookie_name && digest(value) == self.cookie);
        if is_known {
            AccessDecision::Allowed
        } else {
            AccessDecision::Refused(StatusCode::UNAUTHORIZED, "open the address that bardo-eval view printed, which has a token")
        }
    }

    fn cookie_header(&self) -> Option<HeaderValue> {
        let text = format!("{}={}; HttpOnly; SameSite=Strict; Path=/", self.cookie_name, self.cookie_text);
        HeaderValue::from_str(&text).ok()
    }
}

/// Hashes before comparing, so that the time of a comparison tells nothing about the secret.
fn digest(text: &str) -> [u8; 32] {
    Sha256::digest(text.as_bytes()).into()
}

/// Headers of every answer. Nothing but our own style and script may run, be loaded or frame a page.
const HEADERS: [(HeaderName, &str); 8] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("permissions-policy"), "camera=(), microphone=(), geolocation=()"),
];

/// Checks every request before its page, and sets the headers of every answer.
pub(super) async fn check_access(State(state): State<Arc<ViewerState>>, request: Request, next: Next) -> Response {
    let uri = request.uri().clone();
    let decision = state.access.decide(request.method(), uri.path(), uri.query().unwrap_or_default(), request.headers());
    let mut response = match decision {
        AccessDecision::Allowed => next.run(request).await,
        AccessDecision::LogIn { location } => {
            let mut response = StatusCode::SEE_OTHER.into_response();
            if let (Ok(location), Some(cookie)) = (HeaderValue::from_str(&location), state.access.cookie_header()) {
                response.headers_mut().insert(header::LOCATION, location);
                response.headers_mut().insert(header::SET_COOKIE, cookie);
            }
            response
        }
        AccessDecision::Refused(status, why) => {
            let mut response = Response::new(Body::from(format!("{why}\n")));
            *response.status_mut() = status;
            response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
            response
        }
    };
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules() -> AccessRules {
        AccessRules::new(ViewerSecrets { token: "t".repeat(32), cookie: "c".repeat(32) }, 4000)
    }

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap())).collect()
    }

    fn refused(decision: AccessDecision) -> StatusCode {
        match decision {
            AccessDecision::Refused(status, _) => status,
            AccessDecision::Allowed | AccessDecision::LogIn { .. } => panic!("{decision:?}"),
        }
    }

    #[test]
    fn token_opens_once_and_becomes_cookie() {
        let rules = rules();
        let own = headers(&[("host", "127.0.0.1:4000")]);
        let query = format!("q=a&token={}", "t".repeat(32));
        assert_eq!(refused(rules.decide(&Method::GET, "/runs", "token=wrong", &own)), StatusCode::FORBIDDEN);
        assert_eq!(
            rules.decide(&Method::GET, "//evil.example", &query, &own),
            AccessDecision::LogIn { location: "/evil.example?q=a".into() }
        );
        assert_eq!(refused(rules.decide(&Method::GET, "/runs", &query, &own)), StatusCode::FORBIDDEN);
        let known = headers(&[("host", "localhost:4000"), ("cookie", &format!("x=1; bardo_eval_view_4000={}", "c".repeat(32)))]);
        assert_eq!(rules.decide(&Method::GET, "/runs", "", &known), AccessDecision::Allowed);
    }

    #[test]
    fn other_sites_and_hosts_are_refused() {
        let rules = rules();
        let cookie = format!("bardo_eval_view_4000={}", "c".repeat(32));
        for (pairs, status) in [
            (vec![("host", "127.0.0.1:4000")], StatusCode::UNAUTHORIZED),
            (vec![("host", "127.0.0.1:4000"), ("cookie", "bardo_eval_view_4000=wrong")], StatusCode::UNAUTHORIZED),
            (vec![("host", "evil.example:4000"), ("cookie", cookie.as_str())], StatusCode::MISDIRECTED_REQUEST),
            (vec![("cookie", cookie.as_str())], StatusCode::MISDIRECTED_REQUEST),
            (vec![("host", "127.0.0.1:4000"), ("origin", "http://evil.example"), ("cookie", cookie.as_str())], StatusCode::FORBIDDEN),
            (vec![("host", "127.0.0.1:4000"), ("origin", "null"), ("cookie", cookie.as_str())], StatusCode::FORBIDDEN),
            (vec![("host", "127.0.0.1:4000"), ("sec-fetch-site", "cross-site"), ("cookie", cookie.as_str())], StatusCode::FORBIDDEN),
        ] {
            assert_eq!(refused(rules.decide(&Method::GET, "/runs", "", &headers(&pairs))), status, "{pairs:?}");
        }
        let known = headers(&[("host", "127.0.0.1:4000"), ("cookie", &cookie)]);
        assert_eq!(refused(rules.decide(&Method::POST, "/runs", "", &known)), StatusCode::METHOD_NOT_ALLOWED);
    }
}
