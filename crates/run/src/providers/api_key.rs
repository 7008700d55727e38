//! API key of a vendor: read from the environment by the CLI, sent in one header, never displayed.

use serde_json::Value;
use std::fmt;

#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

const REDACTED: &str = "[key]";

/// Minimum length. Scrubbing shorter strings would damage ordinary text.
const MIN_KEY_LEN: usize = 6;

impl ApiKey {
    /// Creates a key. Returns `None` if the text is too short or not valid in a header.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        let fits = text.len() >= MIN_KEY_LEN && text.chars().all(|c| c.is_ascii_graphic());
        fits.then(|| Self(text.to_owned()))
    }

    pub(super) fn expose(&self) -> &str {
        &self.0
    }

    pub fn is_contained_in(&self, text: &str) -> bool {
        text.contains(&self.0) || text.contains(&self.json_escaped())
    }

    /// Replaces the key in a text that may echo it.
    pub(super) fn scrub(&self, text: &str) -> String {
        text.replace(&self.0, REDACTED).replace(&self.json_escaped(), REDACTED)
    }

    /// Scrubs all strings of a parsed value, including object keys. In parsed values, escapes cannot hide the key.
    pub(super) fn scrub_value(&self, value: &mut Value) {
        match value {
            Value::String(text) if text.contains(&self.0) => *text = self.scrub(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.scrub_value(item)),
            Value::Object(entries) => {
                for (name, mut item) in std::mem::take(entries) {
                    self.scrub_value(&mut item);
                    entries.insert(self.scrub(&name), item);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    /// Returns the key as it appears inside JSON text.
    fn json_escaped(&self) -> String {
        let quoted = Value::String(self.0.clone()).to_string();
        quoted[1..quoted.len() - 1].to_owned()
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(REDACTED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn api_key_is_redacted_in_debug_and_scrubbed_texts() {
        let key = ApiKey::new("not-a-real\"key\n").unwrap();
        assert_eq!(format!("{key:?}"), "[key]");
        assert_eq!(key.scrub("x not-a-real\"key y not-a-real\\\"key"), "x [key] y [key]");
        let mut value = json!({ "not-a-real\"key": ["a", { "b": "is not-a-real\"key." }] });
        key.scrub_value(&mut value);
        assert_eq!(value, json!({ "[key]": ["a", { "b": "is [key]." }] }));
    }

    #[test]
    fn api_key_new_rejects_invalid_text() {
        assert!(["", "   ", "short", "with space in it", "with\nline"].iter().all(|text| ApiKey::new(text).is_none()));
    }
}
