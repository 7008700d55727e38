//! A YAML node as a JSON value, for places where the file may say anything: arguments, schemas, fixtures.

use super::node::{Node, Shape, head};
use crate::problem::Report;
use serde_json::{Map, Number, Value};

/// Numbers that JSON readers would round are refused, unquoted hex too: in this field both are amounts and addresses.
pub fn json(node: &Node, report: &Report) -> Option<Value> {
    match &node.shape {
        Shape::Scalar { text, plain: false } => Some(Value::String(text.clone())),
        Shape::Scalar { text, plain: true } => scalar(text, node.line, report),
        Shape::List(items) => {
            items.iter().map(|item| json(item, report)).collect::<Vec<_>>().into_iter().collect::<Option<_>>().map(Value::Array)
        }
        Shape::Map(entries) => {
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

const EXACT: i64 = 1 << 53;

fn scalar(text: &str, line: u32, report: &Report) -> Option<Value> {
    match text {
        "" | "~" | "null" => return Some(Value::Null),
        "true" => return Some(Value::Bool(true)),
        "false" => return Some(Value::Bool(false)),
        _ => {}
    }
    if text.starts_with("0x") {
        report.add(line, format!("{} would be read as a number", head(text)), "write it in quotes");
        return None;
    }
    if let Ok(whole) = text.parse::<i64>()
        && (-EXACT..=EXACT).contains(&whole)
    {
        return Some(Value::Number(whole.into()));
    }
    if looks_numeric(text) {
        if !text.contains(['.', 'e', 'E']) {
            report.add(line, format!("{} is too large to be a number without loss", head(text)), "write it in quotes");
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
    use super::super::{Limits, load};
    use super::*;
    use serde_json::json;

    fn read(text: &str) -> (Option<Value>, usize) {
        let report = Report::new("f");
        let node = load(text, Limits::default(), &report).unwrap();
        let value = super::json(&node, &report);
        (value, report.into_problems().len())
    }

    #[test]
    fn plain_values_are_typed_and_quoted_ones_are_text() {
        let (value, _) = read("{a: 1, b: \"1\", c: 1.5, d: true, e: no, f: [x, null], g: 2026-03-08}");
        assert_eq!(value, Some(json!({"a": 1, "b": "1", "c": 1.5, "d": true, "e": "no", "f": ["x", null], "g": "2026-03-08"})));
    }

    #[test]
    fn numbers_that_would_change_are_refused_all_at_once() {
        assert_eq!(read("{a: 0xabc, b: 115792089237316195423570985008687907853269984665640564039457584007913129639935, c: 1}"), (None, 2));
    }
}
