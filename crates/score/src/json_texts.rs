//! Texts in a JSON value, at every depth.

use serde_json::{Map, Value};

/// Returns the texts among the values.
pub(crate) fn texts_in(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(texts_in).collect(),
        Value::Object(entries) => entries.values().flat_map(texts_in).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => vec![],
    }
}

/// Returns the names and the texts of entries.
pub(crate) fn names_and_texts_in(entries: &Map<String, Value>) -> Vec<&str> {
    entries.iter().flat_map(|(name, value)| std::iter::once(name.as_str()).chain(names_and_texts_of(value))).collect()
}

/// Returns the texts of a value and the names of its entries.
pub(crate) fn names_and_texts_of(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(names_and_texts_of).collect(),
        Value::Object(entries) => names_and_texts_in(entries),
        Value::Null | Value::Bool(_) | Value::Number(_) => vec![],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn texts_are_found_at_every_depth() {
        let value = json!({"a": ["x", {"b": "y"}], "n": 1});
        assert_eq!(texts_in(&value), ["x", "y"]);
        assert_eq!(names_and_texts_of(&value), ["a", "x", "b", "y", "n"]);
    }
}
