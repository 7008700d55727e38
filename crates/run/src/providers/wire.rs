//! Wire format trait: encodes requests and parses replies, whole or streamed.

use super::api_key::ApiKey;
use super::chat::{ModelCall, ModelReply};
use super::fault::ProviderFault;
use super::tool_names::VendorLimits;
use serde_json::{Map, Value};

/// Wire format of a vendor API. Does no I/O; only the HTTP provider sends requests, so that each one is charged.
pub(super) trait WireFormat: Send + Sync {
    fn vendor_limits(&self) -> VendorLimits;

    /// Returns the path below the base URL.
    fn path(&self) -> &'static str;

    /// Returns the request headers. The key appears only here.
    fn headers(&self, key: Option<&ApiKey>) -> Vec<(&'static str, String)>;

    /// Returns the name of the response header with the request id.
    fn request_id_header(&self) -> &'static str;

    fn request_body(&self, ask: &ModelCall, stream: bool) -> Value;

    /// Assembles a stream into the body of a non-streamed reply.
    ///
    /// # Errors
    /// Fails if the stream has no end marker.
    fn assemble_stream(&self, text: &str) -> Result<Value, ProviderFault>;

    /// Returns true if a stream is a document on each line instead of server-sent events.
    fn streams_documents(&self) -> bool {
        false
    }

    fn parse_reply(&self, body: Map<String, Value>) -> Result<ModelReply, ProviderFault>;
}

pub(super) fn expect_object(value: Value, what: &str) -> Result<Map<String, Value>, ProviderFault> {
    match value {
        Value::Object(object) => Ok(object),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Err(ProviderFault::garbled(format!("{what} is not an object")))
        }
    }
}

/// Removes and returns a required list.
pub(super) fn take_list(from: &mut Map<String, Value>, key: &str) -> Result<Vec<Value>, ProviderFault> {
    match from.remove(key) {
        Some(Value::Array(items)) => Ok(items),
        Some(_) | None => Err(ProviderFault::garbled(format!("the reply has no list \"{key}\""))),
    }
}

/// Removes and returns a text, empty if absent.
pub(super) fn take_string(from: &mut Map<String, Value>, key: &str) -> String {
    match from.remove(key) {
        Some(Value::String(text)) => text,
        Some(_) | None => String::new(),
    }
}

/// Largest number of tokens that a reply can report.
const MAX_TOKENS: u64 = 1_000_000_000;

/// Returns a count of tokens; `None` if it is absent or no plain integer in range.
pub(super) fn count(from: &Value, path: &str) -> Option<u64> {
    from.pointer(path).and_then(Value::as_u64).filter(|tokens| *tokens <= MAX_TOKENS)
}

/// Returns a count that not every vendor reports: 0 if it is absent or null, `None` if it is no plain integer in range.
pub(super) fn optional_count(from: &Value, path: &str) -> Option<u64> {
    match from.pointer(path) {
        None | Some(Value::Null) => Some(0),
        Some(_) => count(from, path),
    }
}

/// Adds fields that are not present yet.
pub(super) fn with_missing_fields(mut body: Value, rest: &Map<String, Value>) -> Value {
    if let Some(object) = body.as_object_mut() {
        for (key, value) in rest {
            if !object.contains_key(key) {
                object.insert(key.clone(), value.clone());
            }
        }
    }
    body
}

/// Returns the data of server-sent events in order. Joins lines of one event; skips comments and other fields.
pub(super) fn sse_events(text: &str) -> impl Iterator<Item = String> + '_ {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.lines();
    std::iter::from_fn(move || {
        let mut data: Option<String> = None;
        loop {
            // An event without the empty line at its end was cut off.
            let line = lines.next()?.trim_end_matches('\r');
            if line.is_empty() {
                if let Some(data) = data.take() {
                    return Some(data);
                }
                continue;
            }
            if let Some(more) = line.strip_prefix("data:") {
                let more = more.strip_prefix(' ').unwrap_or(more);
                match &mut data {
                    Some(data) => {
                        data.push('\n');
                        data.push_str(more);
                    }
                    None => data = Some(more.to_owned()),
                }
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_plain_integers_in_range_are_counts() {
        let usage = json!({ "good": 12, "zero": 0, "float": 4096.0, "text": "4096", "negative": -1, "huge": 9_223_372_036_854_775_807_u64,
            "more": 1e30, "null": null, "list": [1] });
        assert_eq!((count(&usage, "/good"), count(&usage, "/zero"), count(&usage, "/absent")), (Some(12), Some(0), None));
        for wrong in ["/float", "/text", "/negative", "/huge", "/more", "/list"] {
            assert_eq!((count(&usage, wrong), optional_count(&usage, wrong)), (None, None), "{wrong}");
        }
        assert_eq!((optional_count(&usage, "/absent"), optional_count(&usage, "/null"), count(&usage, "/null")), (Some(0), Some(0), None));
    }

    #[test]
    fn sse_events_split_at_empty_lines_and_drop_a_cut_event() {
        let text = ": hello\nevent: a\ndata: {\"x\":\ndata: 1}\n\nid: 4\r\ndata:two\r\n\r\ndata: cut";
        assert_eq!(sse_events(text).collect::<Vec<_>>(), ["{\"x\":\n1}", "two"]);
    }
}
