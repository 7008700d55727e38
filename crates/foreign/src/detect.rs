//! Recognises the format of a log by the keys of its first item.

use crate::content::{list, string};
use crate::format::LogFormat;
use serde_json::Value;

/// Returns the format of an item; `None` if it has none that is known.
pub(crate) fn detect_item(item: &Value) -> Option<LogFormat> {
    let has = |keys: &[&str]| keys.iter().all(|key| item.get(*key).is_some());
    if has(&["trial", "case", "events", "ending"]) {
        Some(LogFormat::Jsonl)
    } else if has(&["resourceSpans"]) {
        Some(LogFormat::Otlp)
    } else if has(&["traj"]) {
        Some(LogFormat::TauBench)
    } else if has(&["messages"]) && (has(&["user_task_id"]) || has(&["injection_task_id"])) {
        Some(LogFormat::AgentDojo)
    } else if has(&["simulations"]) || has(&["messages", "task_id", "termination_reason"]) {
        Some(LogFormat::Tau2)
    } else if has(&["eval", "samples"]) || has(&["messages", "epoch", "scores"]) {
        Some(LogFormat::Inspect)
    } else if has(&["output"]) || item.get("response").is_some_and(|response| response.get("output").is_some()) {
        Some(LogFormat::OpenAiResponses)
    } else {
        detect_messages(item.as_array().map_or_else(|| list(item, "messages"), Vec::as_slice))
    }
}

/// Returns the format of a list of messages. Texts alone are the same in both chat formats.
pub(crate) fn detect_messages(messages: &[Value]) -> Option<LogFormat> {
    let blocks = || messages.iter().flat_map(|message| list(message, "content"));
    let is_anthropic = |kind: &str| kind == "thinking" || kind.ends_with("tool_use") || kind.ends_with("tool_result");
    if blocks().any(|block| string(block, "type").is_some_and(is_anthropic)) {
        return Some(LogFormat::Anthropic);
    }
    if messages.iter().any(|part| string(part, "type").is_some_and(|kind| kind.starts_with("function_call"))) {
        return Some(LogFormat::OpenAiResponses);
    }
    messages.first().filter(|message| message.get("role").is_some()).map(|_| LogFormat::OpenAiChat)
}

/// Returns the format of a document with a long list.
pub(crate) fn detect_list(key: &str) -> LogFormat {
    match key {
        "simulations" => LogFormat::Tau2,
        "samples" => LogFormat::Inspect,
        _ => LogFormat::Otlp,
    }
}
