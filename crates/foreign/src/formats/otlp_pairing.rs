//! Pairs the calls in messages of a model with the spans of those calls, so that none counts twice and none disappears.

use super::otlp_messages::SpanCall;
use super::same_values::same_value;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Most spans that are compared with a call. Traces come from outside, and their calls may be alike.
const MAX_CANDIDATES: usize = 256;

/// Calls with spans of their own. Each stands for one call of a message.
#[derive(Debug, Default)]
pub(super) struct SpannedCalls {
    /// Arguments of the calls.
    args: Vec<Value>,
    /// Calls that are not paired, by their tool and id.
    by_id: BTreeMap<(String, Option<String>), BTreeSet<usize>>,
    /// Calls that are not paired, by their tool, with their id.
    by_tool: BTreeMap<String, BTreeMap<usize, Option<String>>>,
    /// Paired calls of messages; layers of instrumentation repeat a message.
    paired: BTreeSet<(String, usize)>,
}

impl SpannedCalls {
    pub(super) fn add(&mut self, id: Option<&str>, tool: String, args: Value) {
        let (at, id) = (self.args.len(), id.map(str::to_owned));
        self.args.push(args);
        self.by_id.entry((tool.clone(), id.clone())).or_default().insert(at);
        self.by_tool.entry(tool).or_default().insert(at, id);
    }

    /// Pairs the calls of one message with spans, and returns those that have none.
    pub(super) fn unpaired(&mut self, calls: Vec<SpanCall>) -> Vec<SpanCall> {
        let mut said: BTreeMap<String, usize> = BTreeMap::new();
        let mut is_paired = |call: &SpanCall| {
            let key = format!("{:?} {} {}", call.id, call.name, call.args);
            // A message may write a call with an id twice; without ids, two calls that are alike are two calls.
            let times = said.entry(key.clone()).or_default();
            *times += usize::from(call.id.is_none());
            self.pair(call, (key, *times))
        };
        calls.into_iter().filter(|call| !is_paired(call)).collect()
    }

    /// Pairs a call of a message with a span of the same tool, arguments and id. Returns whether there is one.
    fn pair(&mut self, call: &SpanCall, key: (String, usize)) -> bool {
        if self.paired.contains(&key) {
            return true;
        }
        let Some(at) = self.find(call) else { return false };
        let id = self.by_tool.get_mut(&call.name).and_then(|calls| calls.remove(&at)).flatten();
        if let Some(calls) = self.by_id.get_mut(&(call.name.clone(), id)) {
            calls.remove(&at);
        }
        self.paired.insert(key);
        true
    }

    /// Returns the first span that may be the call, one of the same id before the others.
    fn find(&self, call: &SpanCall) -> Option<usize> {
        let with_id = |id: Option<&String>| self.by_id.get(&(call.name.clone(), id.cloned())).into_iter().flatten().copied();
        let may_be_same = |at: &usize| may_be_same(&self.args[*at], &call.args);
        let Some(id) = &call.id else {
            return self.by_tool.get(&call.name)?.keys().copied().take(MAX_CANDIDATES).find(may_be_same);
        };
        let same_id = with_id(Some(id)).take(MAX_CANDIDATES).find(|at| is_same_kind(&self.args[*at], &call.args));
        same_id.or_else(|| with_id(None).take(MAX_CANDIDATES).find(may_be_same))
    }
}

/// Reports whether both or none is a dry run, which is another call. Without content, arguments are empty.
fn is_same_kind(written: &Value, said: &Value) -> bool {
    let is_empty = |args: &Value| args.as_object().is_some_and(Map::is_empty);
    let is_dry = |args: &Value| args.get("dry_run") == Some(&Value::Bool(true));
    is_empty(written) || is_empty(said) || is_dry(written) == is_dry(said)
}

/// Reports whether a span without the id of a call may have the arguments of a message. Layers add defaults.
fn may_be_same(written: &Value, said: &Value) -> bool {
    let (Value::Object(own), Value::Object(others)) = (written, said) else { return written == said };
    let is_written = |(name, value): (&String, &Value)| same_value(own.get(name).unwrap_or(&Value::Null), value);
    own.is_empty() || others.is_empty() || (is_same_kind(written, said) && others.iter().all(is_written))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn said(id: Option<&str>, name: &str, args: Value) -> SpanCall {
        SpanCall { id: id.map(str::to_owned), name: name.to_owned(), args }
    }

    fn pairs(spans: &mut SpannedCalls, call: SpanCall) -> bool {
        spans.unpaired(vec![call]).is_empty()
    }

    #[test]
    fn span_stands_for_one_call() {
        let mut spans = SpannedCalls::default();
        spans.add(None, "transfer".into(), json!({ "amount": "5" }));
        let call = |id: &str| said(Some(id), "transfer", json!({ "amount": 5 }));
        assert!(pairs(&mut spans, call("a")));
        assert!(pairs(&mut spans, call("a")), "repeated by another layer");
        assert!(!pairs(&mut spans, call("b")), "a second call");
    }

    #[test]
    fn other_tool_arguments_or_id_is_another_call() {
        let spans = || {
            let mut spans = SpannedCalls::default();
            spans.add(Some("a"), "transfer".into(), json!({ "amount": "5", "note": "default", "dry_run": true }));
            spans
        };
        let pairs = |id: Option<&str>, tool: &str, args: Value| pairs(&mut spans(), said(id, tool, args));
        assert!(pairs(Some("a"), "transfer", json!({ "amount": "5", "dry_run": true })));
        assert!(pairs(None, "transfer", json!({})));
        assert!(!pairs(Some("a"), "transfer", json!({ "amount": "5" })), "not a dry run");
        assert!(!pairs(None, "transfer", json!({ "amount": "6", "dry_run": true })));
        assert!(!pairs(Some("a"), "quote", json!({ "amount": "5", "dry_run": true })));
        assert!(!pairs(Some("b"), "transfer", json!({ "amount": "5", "dry_run": true })));
    }

    #[test]
    fn notations_of_layers_are_one_call() {
        let spans = |id: Option<&str>| {
            let mut spans = SpannedCalls::default();
            spans.add(id, "transfer".into(), json!({ "amount": 5.0, "token": "USDC", "to": { "address": "0xab", "tag": null } }));
            spans
        };
        for args in [
            json!({ "amount": "5", "token": "USDC" }),
            json!({ "amount": 5, "memo": null }),
            json!({ "amount": "5.00", "to": { "address": "0xab" } }),
        ] {
            for id in [Some("a"), None] {
                assert!(pairs(&mut spans(id), said(Some("a"), "transfer", args.clone())), "{id:?} {args}");
            }
        }
        for args in [json!({ "amount": "6" }), json!({ "amount": 5, "memo": "rent" }), json!({ "to": { "address": "0xcd" } })] {
            assert!(!pairs(&mut spans(None), said(Some("a"), "transfer", args.clone())), "{args}");
        }
        let changed = json!({ "amount": "6", "token": "usdc" });
        let mut one = spans(Some("a"));
        assert!(pairs(&mut one, said(Some("a"), "transfer", changed.clone())), "the layers of one id are one call");
        let second = json!({ "amount": "7" });
        assert!(!pairs(&mut one, said(Some("a"), "transfer", second)), "an id stands for one call");
    }

    #[test]
    fn equal_calls_of_one_message_are_several() {
        let call = || said(None, "transfer", json!({ "amount": "5" }));
        let mut spans = SpannedCalls::default();
        spans.add(None, "transfer".into(), json!({ "amount": "5" }));
        assert_eq!(spans.unpaired(vec![call(), call(), call()]).len(), 2);
        spans.add(None, "transfer".into(), json!({ "amount": "5" }));
        assert_eq!(spans.unpaired(vec![call(), call()]).len(), 0);
        let with_id = || said(Some("a"), "transfer", json!({ "amount": "7" }));
        spans.add(Some("a"), "transfer".into(), json!({ "amount": "7" }));
        assert_eq!(spans.unpaired(vec![with_id(), with_id()]).len(), 0, "one call, written twice");
    }

    #[test]
    fn many_calls_are_paired_in_little_time() {
        let mut spans = SpannedCalls::default();
        let count = 4_000;
        for n in 0..count {
            spans.add(None, "transfer".into(), json!({ "amount": n }));
        }
        let calls = |from: usize| (from..from + count).map(|n| said(Some(&n.to_string()), "transfer", json!({ "amount": n }))).collect();
        assert_eq!(spans.unpaired(calls(count)).len(), count, "calls without a span");
        assert!(spans.unpaired(calls(0)).is_empty());
    }
}
