//! YAML values as JavaScript reads them: numbers, booleans and null of the YAML 1.2 core schema. Anchors are read, merge keys are refused.

use model::yaml::{YamlNode, YamlShape};
use serde_json::{Map, Number, Value};

/// Converts a node to JSON.
pub(crate) fn js_value(node: &YamlNode) -> Value {
    match &node.shape {
        YamlShape::Scalar { text, plain: false } => Value::String(text.clone()),
        YamlShape::Scalar { text, plain: true } => scalar(text),
        YamlShape::List(items) => Value::Array(items.iter().map(js_value).collect()),
        YamlShape::Map(entries) => {
            let mut object = Map::new();
            for (key, value) in entries {
                object.insert(key.text.clone(), js_value(value));
            }
            Value::Object(object)
        }
    }
}

/// Key under which [`js_value_with_lines`] keeps the line of a mapping with a `type`.
pub(crate) const LINE_KEY: &str = "\0line";

/// Converts a node to JSON that keeps the lines of assertions, for messages.
pub(crate) fn js_value_with_lines(node: &YamlNode) -> Value {
    match &node.shape {
        YamlShape::List(items) => Value::Array(items.iter().map(js_value_with_lines).collect()),
        YamlShape::Map(entries) => {
            let Value::Object(mut object) = js_value(node) else { return Value::Null };
            for (key, value) in entries.iter().filter(|(key, _)| ["assert", "tests", "config"].contains(&key.text.as_str())) {
                object.insert(key.text.clone(), js_value_with_lines(value));
            }
            if object.contains_key("type") {
                object.insert(LINE_KEY.to_owned(), node.line.into());
            }
            Value::Object(object)
        }
        YamlShape::Scalar { .. } => js_value(node),
    }
}

/// Returns a value without the lines.
pub(crate) fn without_lines(value: &Value) -> Value {
    match value {
        Value::Array(items) => Value::Array(items.iter().map(without_lines).collect()),
        Value::Object(fields) => Value::Object(
            fields.iter().filter(|(key, _)| *key != LINE_KEY).map(|(key, value)| (key.clone(), without_lines(value))).collect(),
        ),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

fn scalar(text: &str) -> Value {
    let text_value = || Value::String(text.to_owned());
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" | "True" | "TRUE" => return Value::Bool(true),
        "false" | "False" | "FALSE" => return Value::Bool(false),
        _ => {}
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if !unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return text_value();
    }
    for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] {
        if let Some(digits) = unsigned.strip_prefix(prefix) {
            return u128::from_str_radix(digits, radix)
                .map_or_else(|_| text_value(), |whole| number(whole as f64).unwrap_or_else(text_value));
        }
    }
    if let Ok(whole) = text.parse::<i64>() {
        return Value::Number(whole.into());
    }
    let numeric = unsigned.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '-' | '+'))
        && unsigned.contains(|c: char| c.is_ascii_digit());
    text.parse::<f64>().ok().filter(|_| numeric).and_then(number).unwrap_or_else(text_value)
}

fn number(float: f64) -> Option<Value> {
    Number::from_f64(float).map(Value::Number)
}

/// Returns the value of a key of a mapping.
pub(crate) fn field<'n>(node: &'n YamlNode, name: &str) -> Option<&'n YamlNode> {
    let YamlShape::Map(entries) = &node.shape else { return None };
    entries.iter().find(|(key, _)| key.text == name).map(|(_, value)| value).filter(|value| !value.is_null())
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::ProblemReport;
    use model::yaml::{YamlLimits, load};
    use serde_json::json;

    #[test]
    fn scalars_are_those_of_javascript() {
        let report = ProblemReport::new("x");
        let text = "a: 1\nb: 1.5\nc: 0x10\nd: yes\ne: true\nf: '1'\ng: 1e3\nh: ~\ni: 1.2.3\nbase: &b { k: 1, m: 2 }\nder: *b\n";
        let node = load(text, YamlLimits::default(), &report).unwrap_or_else(|| panic!("{:?}", report.into_problems()));
        assert_eq!(
            js_value(&node),
            json!({"a": 1, "b": 1.5, "c": 16.0, "d": "yes", "e": true, "f": "1", "g": 1000.0, "h": null, "i": "1.2.3",
                "base": {"k": 1, "m": 2}, "der": {"k": 1, "m": 2}})
        );
    }
}
