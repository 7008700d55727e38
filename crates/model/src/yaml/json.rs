//! Conversion of YAML nodes to JSON values, for arguments, schemas and fixtures.

use super::node::{YamlNode, YamlShape, excerpt};
use crate::problem::ProblemReport;
use serde_json::{Map, Number, Value};

/// Converts a node to a JSON value. Refuses unquoted hex and integers beyond 2^53, which are addresses and amounts that lack quotes.
pub fn json(node: &YamlNode, report: &ProblemReport) -> Option<Value> {
    match &node.shape {
        YamlShape::Scalar { text, plain: false } => Some(Value::String(text.clone())),
        YamlShape::Scalar { text, plain: true } => scalar(text, node.line, report),
        YamlShape::List(items) => {
            items.iter().map(|item| json(item, report)).collect::<Vec<_>>().into_iter().collect::<Option<_>>().map(Value::Array)
        }
        YamlShape::Map(entries) => {
            let mut object = Map::new();
            let mut complete = true;
            for (key, value) in entries {
                match json(value, report) {
                    Some(value) if !object.contains_key(&key.text) => {
                        object.insert(key.text.clone(), value);
                    }
                    Some(_) => {
                        report.add(key.line, format!("{} is given twice", key.describe()), "keep one");
                        complete = false;
                    }
                    None => complete = false,
                }
            }
            complete.then_some(Value::Object(object))
        }
    }
}

const MAX_EXACT_INTEGER: i64 = 1 << 53;

fn scalar(text: &str, line: u32, report: &ProblemReport) -> Option<Value> {
    match text {
        "" | "~" | "null" => return Some(Value::Null),
        "true" => return Some(Value::Bool(true)),
        "false" => return Some(Value::Bool(false)),
        _ => {}
    }
    if text.starts_with("0x") {
        report.add(line, format!("{} would be read as a number", excerpt(text)), "write it in quotes");
        return None;
    }
    if let Ok(whole) = text.parse::<i64>()
        && (-MAX_EXACT_INTEGER..=MAX_EXACT_INTEGER).contains(&whole)
    {
        return Some(Value::Number(whole.into()));
    }
    if looks_numeric(text) {
        if !text.contains(['.', 'e', 'E']) {
            report.add(line, format!("{} is too large to be a number without loss", excerpt(text)), "write it in quotes");
            return None;
        }
        if let Some(number) = text.parse::<f64>().ok().and_then(Number::from_f64) {
            return Some(Value::Number(number));
        }
    }
    Some(Value::String(text.to_owned()))
}

fn looks_numeric(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    digits.starts_with(|c: char| c.is_ascii_digit()) && digits.parse::<f64>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::super::{YamlLimits, load};
    use super::*;
    use serde_json::json;

    fn read(text: &str) -> (Option<Value>, usize) {
        let report = ProblemReport::new("f");
        let node = load(text, YamlLimits::default(), &report).unwrap();
        let value = super::json(&node, &report);
        (value, report.into_problems().len())
    }

    #[test]
    fn plain_yaml_scalars_are_typed_quoted_are_text() {
        let (value, _) = read("{a: 1, b: \"1\", c: 1.5, d: true, e: no, f: [x, null], g: 2026-03-08}");
        assert_eq!(value, Some(json!({"a": 1, "b": "1", "c": 1.5, "d": true, "e": "no", "f": ["x", null], "g": "2026-03-08"})));
    }

    #[test]
    fn lossy_yaml_numbers_are_refused() {
        assert_eq!(read("{a: 0xabc, b: 115792089237316195423570985008687907853269984665640564039457584007913129639935, c: 1}"), (None, 2));
    }
}
