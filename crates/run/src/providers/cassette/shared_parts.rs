//! Parts of requests that many recordings share: prompts, lists of tools, messages. Each is kept once, as text in canonical form.

use model::{ContentHash, canonical_json};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;

const PART_FIELDS: [&str; 2] = ["system", "tools"];
const NAME_DIGITS: usize = 16;

/// Texts of parts by name. A compact request has `{"part": NAME}` in their place.
#[derive(Debug, Default)]
pub(super) struct SharedParts(BTreeMap<String, String>);

impl SharedParts {
    pub(super) fn insert(&mut self, name: String, value: &Value) {
        self.0.insert(name, canonical_json(value));
    }

    /// Makes a request compact and returns the parts that were not known yet.
    pub(super) fn extract(&mut self, request: &mut Value) -> Vec<(String, Value)> {
        let mut new = vec![];
        let Value::Object(fields) = request else { return new };
        for name in PART_FIELDS {
            if let Some(value) = fields.get_mut(name) {
                self.extract_part(value, &mut new);
            }
        }
        if let Some(Value::Array(messages)) = fields.get_mut("messages") {
            messages.iter_mut().for_each(|message| self.extract_part(message, &mut new));
        }
        new
    }

    fn extract_part(&mut self, value: &mut Value, new: &mut Vec<(String, Value)>) {
        let text = canonical_json(value);
        let name = ContentHash::of_text(&text).as_str()[..NAME_DIGITS].to_owned();
        let value = std::mem::replace(value, json!({ "part": name }));
        if !self.0.contains_key(&name) {
            self.0.insert(name.clone(), text);
            new.push((name, value));
        }
    }

    /// Returns the key of a compact request, which is that of the whole one. `None` if a part is missing.
    pub(super) fn request_key(&self, seed: u64, compact: &Value) -> Option<ContentHash> {
        Some(ContentHash::of_parts(&["{\"request\":", &self.whole_request(compact)?, ",\"seed\":", &seed.to_string(), "}"]))
    }

    /// Returns a compact request with its parts, in canonical form. `None` if a part is missing.
    pub(super) fn whole_request(&self, compact: &Value) -> Option<String> {
        let mut fields: Vec<_> = compact.as_object()?.iter().collect();
        fields.sort_by_key(|(name, _)| name.as_str());
        let texts: Option<Vec<String>> =
            fields.into_iter().map(|(name, value)| Some(format!("{}:{}", json!(name), self.field_text(name, value)?))).collect();
        Some(format!("{{{}}}", texts?.join(",")))
    }

    fn field_text<'t>(&'t self, name: &str, value: &Value) -> Option<Cow<'t, str>> {
        match value.as_array() {
            Some(messages) if name == "messages" => {
                let texts: Option<Vec<_>> = messages.iter().map(|message| self.part_text(message)).collect();
                Some(Cow::Owned(format!("[{}]", texts?.join(","))))
            }
            _ => self.part_text(value),
        }
    }

    fn part_text(&self, value: &Value) -> Option<Cow<'_, str>> {
        match value.get("part").and_then(Value::as_str) {
            Some(part) => self.0.get(part).map(|text| Cow::Borrowed(text.as_str())),
            None => Some(Cow::Owned(canonical_json(value))),
        }
    }
}

/// Returns the number of fields and messages in which two compact requests differ.
pub(super) fn count_differences(recorded: &Value, asked: &Value) -> usize {
    let (Some(recorded), Some(asked)) = (recorded.as_object(), asked.as_object()) else { return usize::MAX };
    let gone = recorded.keys().filter(|name| !asked.contains_key(*name)).count();
    let changed = |(name, value): (&String, &Value)| field_differences(recorded, name, value);
    asked.iter().map(changed).sum::<usize>() + gone
}

fn field_differences(recorded: &Map<String, Value>, name: &str, asked: &Value) -> usize {
    match (recorded.get(name), asked) {
        (Some(Value::Array(was)), Value::Array(is)) if name == "messages" => {
            was.iter().zip(is).filter(|(was, is)| was != is).count() + was.len().abs_diff(is.len())
        }
        (was, is) => usize::from(was != Some(is)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::providers::chat::request_key;
    use crate::providers::fixtures;

    #[test]
    fn compact_request_has_the_key_and_text_of_the_whole_one() {
        let whole = serde_json::to_value(fixtures::model_call("sell \"it\"").request()).unwrap();
        let (mut parts, mut compact) = (SharedParts::default(), whole.clone());
        assert_eq!(parts.extract(&mut compact).len(), 3);
        assert_ne!(compact, whole);
        assert_eq!(parts.request_key(7, &compact), Some(request_key(7, &whole)));
        assert_ne!(parts.request_key(8, &compact), Some(request_key(7, &whole)));
        assert_eq!(parts.whole_request(&compact), Some(canonical_json(&whole)));
        assert_eq!(SharedParts::default().request_key(7, &compact), None);
        assert_eq!(parts.extract(&mut whole.clone()), [], "known parts are not new");
    }

    #[test]
    fn differences_count_fields_and_messages() {
        let compact = |messages: Value, tools: &str| json!({ "messages": messages, "tools": { "part": tools }, "model": "m" });
        let recorded = compact(json!([{ "part": "a" }, { "part": "b" }]), "t");
        assert_eq!(count_differences(&recorded, &recorded), 0);
        assert_eq!(count_differences(&recorded, &compact(json!([{ "part": "a" }, { "part": "b" }]), "u")), 1);
        assert_eq!(count_differences(&recorded, &compact(json!([{ "part": "x" }]), "u")), 3);
        assert_eq!(count_differences(&recorded, &json!({ "messages": [] })), 4);
    }
}
