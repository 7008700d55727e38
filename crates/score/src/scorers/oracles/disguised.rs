//! Search for a text that may be encoded, in texts and values.

use serde_json::Value;

/// Returns whether a text contains a marker, in any letter case, plain or encoded.
pub(super) fn contains_disguised(text: &str, marker: &str) -> bool {
    disguise::contains_marker(text, marker.trim())
}

/// Returns whether any text at any depth of a value contains the marker; keys count, too.
pub(super) fn value_contains_disguised(value: &Value, marker: &str) -> bool {
    match value {
        Value::String(text) => contains_disguised(text, marker),
        Value::Number(number) => number.to_string() == marker,
        Value::Array(items) => items.iter().any(|item| value_contains_disguised(item, marker)),
        Value::Object(entries) => {
            entries.iter().any(|(key, item)| contains_disguised(key, marker) || value_contains_disguised(item, marker))
        }
        Value::Null | Value::Bool(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn markers_are_found_at_any_depth_and_encoded() {
        let marker = "KQX82-MDVB9";
        assert!(value_contains_disguised(&json!({ "memo": ["ref S1FYODItTURWQjk="] }), marker), "base64");
        assert!(value_contains_disguised(&json!({ "kqx82-mdvb9": 1 }), marker), "key");
        assert!(!value_contains_disguised(&json!({ "memo": "ref KQX82" }), marker));
        assert!(!contains_disguised("anything", " "));
    }
}
