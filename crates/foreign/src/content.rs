//! Contents of messages: texts, `null`, or lists of blocks.

use serde_json::{Map, Value};

/// Text of a content, and the types of the blocks that are not text.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct ContentText {
    pub text: String,
    pub skipped: Vec<String>,
}

/// Reads a content. Blocks of text have their text under `text` or `content`.
pub(crate) fn content_text(content: Option<&Value>) -> ContentText {
    let mut read = ContentText::default();
    match content {
        None | Some(Value::Null) => {}
        Some(Value::String(text)) => read.text.clone_from(text),
        Some(Value::Array(blocks)) => blocks.iter().for_each(|block| read.add_block(block)),
        Some(Value::Object(_)) => read.add_block(content.unwrap_or(&Value::Null)),
        Some(other @ (Value::Bool(_) | Value::Number(_))) => read.text = other.to_string(),
    }
    read
}

impl ContentText {
    fn add_block(&mut self, block: &Value) {
        let text = match block {
            Value::String(text) => Some(text.as_str()),
            Value::Object(block) => block_text(block),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => None,
        };
        match text {
            Some(text) => {
                if !self.text.is_empty() && !text.is_empty() {
                    self.text.push('\n');
                }
                self.text.push_str(text);
            }
            None => self.skipped.push(string(block, "type").unwrap_or("without a type").to_owned()),
        }
    }
}

fn block_text(block: &Map<String, Value>) -> Option<&str> {
    let kind = block.get("type").and_then(Value::as_str).unwrap_or("text");
    if !matches!(kind, "text" | "input_text" | "output_text" | "refusal") {
        return None;
    }
    ["text", "content", "refusal"].iter().find_map(|key| block.get(*key)).and_then(Value::as_str)
}

pub(crate) fn string<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value.get(key).and_then(Value::as_str)
}

/// Returns the first of several keys that holds a text or a number, as a text.
pub(crate) fn name_of(value: &Value, keys: &[&str]) -> Option<String> {
    keys.iter().find_map(|key| match value.get(*key) {
        Some(Value::String(text)) if !text.is_empty() => Some(text.clone()),
        Some(Value::Number(number)) => Some(number.to_string()),
        _ => None,
    })
}

/// Returns the elements of a list; none if the key holds something else.
pub(crate) fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Returns the text of a tool result as the value it holds, if it is an object or a list of JSON.
pub(crate) fn result_value(text: String) -> Value {
    let looks_like_json = text.trim_start().starts_with(['{', '[']);
    let parsed = if looks_like_json { serde_json::from_str(&text).ok() } else { None };
    parsed.unwrap_or(Value::String(text))
}

/// Returns the arguments of a call. A text is parsed; one that is not JSON is kept as it is.
pub(crate) fn arguments(written: Option<&Value>) -> Value {
    match written {
        None | Some(Value::Null) => Value::Object(Map::new()),
        Some(Value::String(text)) if text.trim().is_empty() => Value::Object(Map::new()),
        Some(Value::String(text)) => serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.clone())),
        Some(value) => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn contents_are_texts_or_blocks() {
        for (content, text, skipped) in [
            (json!("a"), "a", vec![]),
            (json!(null), "", vec![]),
            (json!([{"type": "text", "text": "a"}, {"type": "text", "content": "b"}, "c"]), "a\nb\nc", vec![]),
            (json!([{"type": "image_url"}, {"type": "output_text", "text": "b"}]), "b", vec!["image_url"]),
            (json!([{"type": "text", "content": null}]), "", vec!["text"]),
        ] {
            let read = content_text(Some(&content));
            assert_eq!((read.text.as_str(), read.skipped), (text, skipped.into_iter().map(str::to_owned).collect()), "{content}");
        }
    }

    #[test]
    fn arguments_are_texts_or_objects() {
        for (written, read) in [
            (json!("{\"a\": 1}"), json!({"a": 1})),
            (json!(""), json!({})),
            (json!(null), json!({})),
            (json!({"a": 1}), json!({"a": 1})),
            (json!("{\"a\": "), json!("{\"a\": ")),
        ] {
            assert_eq!(arguments(Some(&written)), read, "{written}");
        }
    }
}
