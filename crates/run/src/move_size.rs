//! Size of a move as it would be recorded.

use model::transcript::{Move, ToolCall};
use serde_json::{Map, Value};

/// Bytes of text and arguments that a trial may record of its subject. Models report the tokens of a reply themselves, so a limit of
/// tokens alone does not bound them.
pub(crate) const MAX_MOVE_BYTES: usize = 4 << 20;

/// Returns the bytes of the texts and arguments of a move, without quotes and separators.
pub(crate) fn move_bytes(next: &Move) -> usize {
    match next {
        Move::Say(text) | Move::Ask(text) | Move::Report(text) | Move::Refuse(text) => text.len(),
        Move::Activate { skill: name, params } | Move::Delegate { to: name, params } => name.len() + map_bytes(params),
        Move::Call(calls) => calls.iter().map(call_bytes).sum(),
        Move::Stop => 0,
    }
}

fn call_bytes(call: &ToolCall) -> usize {
    call.tool.len() + value_bytes(&call.args)
}

fn map_bytes(map: &Map<String, Value>) -> usize {
    map.iter().map(|(key, value)| key.len() + value_bytes(value)).sum()
}

fn value_bytes(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(value_bytes).sum::<usize>() + items.len(),
        Value::Object(map) => map_bytes(map) + map.len(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
    }
}
