//! Pairs the calls in messages of a model with the spans of those calls, so that none counts twice and none disappears.

use super::otlp_messages::SpanCall;
use serde_json::Value;
use std::collections::BTreeSet;

/// Call that has a span of its own.
#[derive(Debug)]
struct SpannedCall {
    id: Option<String>,
    tool: String,
    args: Value,
    is_paired: bool,
}

/// Calls with spans of their own. Each stands for one call of a message.
#[derive(Debug, Default)]
pub(super) struct SpannedCalls {
    calls: Vec<SpannedCall>,
    /// Paired calls of messages; layers of instrumentation repeat a message.
    paired: BTreeSet<String>,
}

impl SpannedCalls {
    pub(super) fn add(&mut self, id: Option<&str>, tool: String, args: Value) {
        self.calls.push(SpannedCall { id: id.map(str::to_owned), tool, args, is_paired: false });
    }

    /// Pairs a call of a message with a span of the same tool, arguments and id. Returns whether there is one.
    pub(super) fn pair(&mut self, call: &SpanCall) -> bool {
        let key = format!("{:?} {} {}", call.id, call.name, call.args);
        if self.paired.contains(&key) {
            return true;
        }
        let Some(spanned) = self.calls.iter_mut().find(|spanned| !spanned.is_paired && spanned.is_same(call)) else { return false };
        spanned.is_paired = true;
        self.paired.insert(key);
        true
    }
}

impl SpannedCall {
    fn is_same(&self, call: &SpanCall) -> bool {
        let has_other_id = matches!((&self.id, &call.id), (Some(own), Some(said)) if own != said);
        self.tool == call.name && !has_other_id && may_be_same(&self.args, &call.args)
    }
}

/// Reports whether a span may have the arguments of a message. Layers add defaults; a dry run is another call. Without content, arguments are
/// empty.
fn may_be_same(written: &Value, said: &Value) -> bool {
    let (Value::Object(written), Value::Object(said)) = (written, said) else { return written == said };
    if written.is_empty() || said.is_empty() {
        return true;
    }
    let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let is_dry = |args: &serde_json::Map<String, Value>| args.get("dry_run") == Some(&Value::Bool(true));
    is_dry(written) == is_dry(said) && said.iter().all(|(name, value)| written.get(name).is_some_and(|other| plain(other) == plain(value)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn said(id: Option<&str>, name: &str, args: Value) -> SpanCall {
        SpanCall { id: id.map(str::to_owned), name: name.to_owned(), args }
    }

    #[test]
    fn span_stands_for_one_call() {
        let mut spans = SpannedCalls::default();
        spans.add(None, "transfer".into(), json!({ "amount": "5" }));
        let call = |id: &str| said(Some(id), "transfer", json!({ "amount": 5 }));
        assert!(spans.pair(&call("a")));
        assert!(spans.pair(&call("a")), "repeated by another layer");
        assert!(!spans.pair(&call("b")), "a second call");
    }

    #[test]
    fn other_tool_arguments_or_id_is_another_call() {
        let spans = || {
            let mut spans = SpannedCalls::default();
            spans.add(Some("a"), "transfer".into(), json!({ "amount": "5", "note": "default", "dry_run": true }));
            spans
        };
        assert!(spans().pair(&said(Some("a"), "transfer", json!({ "amount": "5", "dry_run": true }))));
        assert!(spans().pair(&said(None, "transfer", json!({}))));
        assert!(!spans().pair(&said(Some("a"), "transfer", json!({ "amount": "5" }))), "not a dry run");
        assert!(!spans().pair(&said(Some("a"), "transfer", json!({ "amount": "6", "dry_run": true }))));
        assert!(!spans().pair(&said(Some("a"), "quote", json!({ "amount": "5", "dry_run": true }))));
        assert!(!spans().pair(&said(Some("b"), "transfer", json!({ "amount": "5", "dry_run": true }))));
    }
}
