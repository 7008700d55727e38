//! JSON in the answer of an agent.

use serde_json::Value;

/// Parses bare JSON or JSON in one fence.
pub(crate) fn parse_json_answer(text: &str) -> Option<Value> {
    let text = text.trim();
    let inner = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    let inner = inner.map(|inner| inner.strip_prefix("json").or_else(|| inner.strip_prefix("JSON")).unwrap_or(inner));
    serde_json::from_str(inner.unwrap_or(text).trim()).ok()
}
