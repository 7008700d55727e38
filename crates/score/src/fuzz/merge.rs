//! Keywords beside anyOf or oneOf bind every branch; here they are written into it.

use serde_json::{Map, Value};

use super::parse::is_note;
use super::unsupported::Unsupported;

/// `beside` and `branch` as one schema, if that says the same as both together.
pub(super) fn into(beside: &Map<String, Value>, branch: &Value, path: &str) -> Result<Value, Unsupported> {
    let refuse = |keyword: &str, because: &str| Err(Unsupported::new(keyword, path, because));
    let mut merged = match branch {
        Value::Object(map) => map.clone(),
        Value::Bool(true) => Map::new(),
        Value::Bool(false) | Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            return refuse("schema", "a branch must be an object of keywords");
        }
    };
    // A closed object counts only the properties written next to it, so the two lists cannot become one.
    let closed = |map: &Map<String, Value>| map.get("additionalProperties").is_some_and(|extra| *extra != Value::Bool(true));
    let named = |map: &Map<String, Value>| map.contains_key("properties");
    if (closed(beside) && named(&merged)) || (closed(&merged) && named(beside)) {
        return refuse("additionalProperties", "properties are listed both in a branch and beside it");
    }
    for (word, value) in beside {
        let joined = match (word.as_str(), merged.get(word)) {
            (_, None) => value.clone(),
            (_, Some(own)) if own == value || is_note(word) => own.clone(),
            ("required", Some(own)) => both_lists(value, own),
            ("properties", Some(own)) => match both_maps(value, own) {
                Some(joined) => joined,
                None => return refuse("properties", "a property has one schema in a branch and another beside it"),
            },
            (_, Some(_)) => return refuse(word, "it has one value in a branch and another beside it"),
        };
        merged.insert(word.clone(), joined);
    }
    Ok(Value::Object(merged))
}

fn both_lists(a: &Value, b: &Value) -> Value {
    let names = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut joined = names(a);
    for name in names(b) {
        if !joined.contains(&name) {
            joined.push(name);
        }
    }
    Value::Array(joined)
}

fn both_maps(a: &Value, b: &Value) -> Option<Value> {
    let mut joined = a.as_object()?.clone();
    for (name, schema) in b.as_object()? {
        if joined.get(name).is_some_and(|other| other != schema) {
            return None;
        }
        joined.insert(name.clone(), schema.clone());
    }
    Some(Value::Object(joined))
}
