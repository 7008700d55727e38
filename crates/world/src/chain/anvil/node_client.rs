//! JSON-RPC client over HTTP with a timeout, a limit on the size of replies, and errors that are safe to print.

use super::super::ChainError;
use reqwest::{Client, Response, StatusCode, Url};
use serde_json::{Value, json};
use std::fmt;
use std::time::Duration;

/// Maximum size of a reply. The largest valid one is the trace of a transaction that writes thousands of slots.
const MAX_REPLY_BYTES: usize = 8 * 1024 * 1024;

/// Method and parameters of a request.
pub(super) type NodeRequest = (&'static str, Value);

pub(in crate::chain) struct NodeClient {
    client: Client,
    url: Url,
    /// Scheme, host and port. The path is not shown because it may contain an API key.
    display_url: String,
    timeout: Duration,
    last_id: u64,
}

impl fmt::Debug for NodeClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NodeClient").field("url", &self.display_url).field("timeout", &self.timeout).finish_non_exhaustive()
    }
}

impl NodeClient {
    pub(in crate::chain) fn new(url: &str, timeout: Duration) -> Result<Self, ChainError> {
        let url = parse_url(url)?;
        let display_url = origin(&url);
        // Building a client without a crypto provider panics. The first to install one wins, so this never overrides `main`.
        if rustls::crypto::CryptoProvider::get_default().is_none() {
            let _ = rustls::crypto::ring::default_provider().install_default();
        }
        // No proxy and no redirects: requests go only to the configured host.
        let client = Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none()).build();
        let client = client.map_err(|error| ChainError::Node(format!("{display_url}: {}", error_cause(error))))?;
        Ok(Self { client, url, display_url, timeout, last_id: 0 })
    }

    pub(super) fn timeout(&self) -> Duration {
        self.timeout
    }

    pub(in crate::chain) fn url(&self) -> &str {
        self.url.as_str()
    }

    /// Returns the URL of the node as shown in errors.
    pub(in crate::chain) fn display_url(&self) -> &str {
        &self.display_url
    }

    pub(super) fn fault(&self, method: &str, what: impl fmt::Display) -> ChainError {
        ChainError::Node(format!("{method} at {}: {what}", self.display_url))
    }

    pub(in crate::chain) async fn request(&mut self, method: &'static str, params: Value) -> Result<Value, ChainError> {
        let id = self.next_id();
        let reply = self.post(method, &request_json(id, method, &params)).await?;
        self.result_of(id, method, reply)
    }

    /// Reads the body of a reply to the next request without sending it.
    pub(in crate::chain) fn read_reply(&mut self, method: &'static str, status: StatusCode, body: &[u8]) -> Result<Value, ChainError> {
        let id = self.next_id();
        let reply = self.parse_body(method, status, body)?;
        self.result_of(id, method, reply)
    }

    /// Sends several requests in one batch. They must not depend on each other, because the node may execute them in any order.
    pub(super) async fn request_batch<const N: usize>(&mut self, requests: [NodeRequest; N]) -> Result<[Value; N], ChainError> {
        let first = self.last_id + 1;
        let bodies: Vec<Value> = requests.iter().map(|(method, params)| request_json(self.next_id(), method, params)).collect();
        let methods = requests.map(|(method, _)| method);
        let method_names = methods.join(", ");
        let replies: Vec<Value> = match self.post(&method_names, &Value::Array(bodies)).await? {
            Value::Array(replies) => replies,
            // A server without batch support answers with a single error.
            reply @ (Value::Object(_) | Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => {
                return Err(self.fault(&method_names, format_args!("it answered {}", printable_excerpt(&reply.to_string(), 200))));
            }
        };
        let mut replies: [Value; N] = replies
            .try_into()
            .map_err(|replies: Vec<Value>| self.fault(&method_names, format_args!("{N} requests, but {} replies", replies.len())))?;
        replies.sort_by_key(|reply| reply["id"].as_u64());
        for (nth, method) in methods.into_iter().enumerate() {
            replies[nth] = self.result_of(first + nth as u64, method, replies[nth].take())?;
        }
        Ok(replies)
    }

    fn next_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    async fn post(&self, method: &str, body: &Value) -> Result<Value, ChainError> {
        let sending = self.client.post(self.url.clone()).json(body).send();
        let exchange = async {
            let response = sending.await.map_err(|error| self.fault(method, error_cause(error)))?;
            let status = response.status();
            let body = self.read_body(method, response).await?;
            self.parse_body(method, status, &body)
        };
        let limit = self.timeout;
        tokio::time::timeout(limit, exchange).await.unwrap_or_else(|_| Err(self.fault(method, format_args!("no answer within {limit:?}"))))
    }

    async fn read_body(&self, method: &str, mut response: Response) -> Result<Vec<u8>, ChainError> {
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.fault(method, error_cause(error)))? {
            if body.len() + chunk.len() > MAX_REPLY_BYTES {
                return Err(self.fault(method, format_args!("the reply is longer than {} MiB", MAX_REPLY_BYTES >> 20)));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }

    fn parse_body(&self, method: &str, status: StatusCode, body: &[u8]) -> Result<Value, ChainError> {
        if !status.is_success() {
            return Err(self.fault(method, format_args!("HTTP status {}: {}", status.as_u16(), body_excerpt(body))));
        }
        serde_json::from_slice(body).map_err(|_| self.fault(method, format_args!("it answered {}", body_excerpt(body))))
    }

    /// Returns the result of a reply. Fails if its id does not match or it contains an error.
    fn result_of(&self, id: u64, method: &str, mut reply: Value) -> Result<Value, ChainError> {
        if reply["id"].as_u64() != Some(id) {
            return Err(self.fault(method, format_args!("the reply has another id: {}", printable_excerpt(&reply["id"].to_string(), 40))));
        }
        if let Some(error) = reply.get("error").filter(|error| !error.is_null()) {
            return Err(self.error_from_reply(method, error));
        }
        match reply.get_mut("result") {
            Some(result) => Ok(result.take()),
            None => Err(self.fault(method, "the reply has neither result nor error")),
        }
    }

    fn error_from_reply(&self, method: &str, error: &Value) -> ChainError {
        let message = printable_excerpt(error["message"].as_str().unwrap_or("an error without a message"), 300);
        let executes = matches!(method, "eth_sendTransaction" | "debug_traceCall");
        if executes && is_invalid_transaction(error["code"].as_i64(), &message) {
            return ChainError::Refused(message);
        }
        let code = error["code"].as_i64().map_or_else(String::new, |code| format!(" ({code})"));
        self.fault(method, format_args!("the node says {message}{code}"))
    }
}

fn request_json(id: u64, method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

/// Returns whether an error is about the transaction itself. Code -32003 means "transaction rejected"; errors about gas and sizes use the
/// generic server error code.
fn is_invalid_transaction(code: Option<i64>, message: &str) -> bool {
    let message = message.to_ascii_lowercase();
    let known = ["insufficient funds", "nonce too", "intrinsic gas", "block gas limit", "gas limit", "initcode size", "nonce has max"];
    code == Some(-32003) || known.iter().any(|known| message.contains(known))
}

fn parse_url(url: &str) -> Result<Url, ChainError> {
    match Url::parse(url) {
        Ok(url) if matches!(url.scheme(), "http" | "https") => Ok(url),
        Ok(_) | Err(_) => Err(ChainError::Node("the URL of a node must start with http:// or https://".to_owned())),
    }
}

/// Returns scheme, host and port of a URL, or a placeholder if it is invalid.
pub(super) fn display_origin(url: &str) -> String {
    parse_url(url).map_or_else(|_| "(invalid URL)".to_owned(), |url| origin(&url))
}

fn origin(url: &Url) -> String {
    printable_excerpt(&url.origin().ascii_serialization(), 200)
}

fn body_excerpt(body: &[u8]) -> String {
    let head = body[..body.len().min(1024)].trim_ascii();
    if head.is_empty() { "nothing".to_owned() } else { printable_excerpt(&String::from_utf8_lossy(head), 200) }
}

/// Returns at most `max` characters of text from a node, on one line and with control characters escaped.
pub(in crate::chain) fn printable_excerpt(text: &str, max: usize) -> String {
    let mut chars = text.trim().chars();
    let mut out = String::new();
    for c in chars.by_ref().take(max) {
        if matches!(c, '"' | '\'' | '\\') { out.push(c) } else { out.extend(c.escape_debug()) }
    }
    if chars.next().is_some() {
        out.push('…');
    }
    out
}

/// Returns the innermost cause of an error. The text of reqwest itself repeats the URL, and "connection refused" is three causes deep.
fn error_cause(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut cause: &dyn std::error::Error = &error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    printable_excerpt(&cause.to_string(), 300)
}

#[cfg(test)]
mod tests {
    use super::{NodeClient, display_origin, is_invalid_transaction, printable_excerpt};
    use std::time::Duration;

    #[test]
    fn node_url_secrets_are_not_shown() {
        let url = "https://user:word@node.example:8443/v3/key?token=x";
        assert_eq!(display_origin(url), "https://node.example:8443");
        let rpc = NodeClient::new(url, Duration::from_secs(1)).expect("a client");
        assert!(!format!("{rpc:?} {}", rpc.fault("m", "w")).contains("key"));
        assert_eq!(display_origin("file:///etc/passwd"), "(invalid URL)");
    }

    #[test]
    fn node_text_is_truncated_and_escaped() {
        assert_eq!(printable_excerpt("a\u{1b}[2J\n\"b\" \u{202e}c", 50), "a\\u{1b}[2J\\n\"b\" \\u{202e}c");
        assert_eq!(printable_excerpt("äöüß", 3), "äöü…");
    }

    #[test]
    fn invalid_transaction_errors_are_recognised() {
        assert!(is_invalid_transaction(Some(-32003), "anything"));
        assert!(is_invalid_transaction(Some(-32000), "intrinsic gas too high -- tx.gas_limit > env.block.gas_limit"));
        assert!(!is_invalid_transaction(Some(-32603), "internal error"));
    }
}
