//! Compares values of arguments that layers of instrumentation write in other notations.

use model::Decimal;
use serde_json::{Map, Value};

/// Reports whether two values are the same: a text is what it holds, `5.0` is `5`, and a member that is null is one that is missing.
pub(super) fn same_value(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => same_members(one, other),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same_value(one, other))
        }
        (Value::Null, other) | (other, Value::Null) => other.is_null(),
        _ => same_text(one, other) || decimal(one).zip(decimal(other)).is_some_and(|(one, other)| one == other),
    }
}

fn same_members(one: &Map<String, Value>, other: &Map<String, Value>) -> bool {
    let is_same = |(name, value): (&String, &Value)| same_value(value, other.get(name).unwrap_or(&Value::Null));
    let is_known = |(name, value): (&String, &Value)| value.is_null() || one.contains_key(name);
    one.iter().all(is_same) && other.iter().all(is_known)
}

fn same_text(one: &Value, other: &Value) -> bool {
    let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    plain(one) == plain(other)
}

fn decimal(value: &Value) -> Option<Decimal> {
    match value {
        Value::Number(number) => Decimal::from_json(number),
        Value::String(text) => Decimal::parse_strict(text),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn deep_values_are_compared_once() {
        let deep = |leaf: u64| (0..100).fold(json!(leaf), |value, _| json!({ "a": value, "b": null }));
        assert!(same_value(&deep(1), &deep(1)));
        assert!(!same_value(&deep(1), &deep(2)));
    }

    #[test]
    fn values_are_compared_without_their_notation() {
        for (one, other) in [
            (json!(5.0), json!("5")),
            (json!("0.50"), json!(0.5)),
            (json!({ "a": null, "b": [1, "2.0"] }), json!({ "b": ["1", 2] })),
            (json!(true), json!("true")),
            (json!("{\"a\":1}"), json!({ "a": 1 })),
        ] {
            assert!(same_value(&one, &other) && same_value(&other, &one), "{one} {other}");
        }
        for (one, other) in [
            (json!(5), json!(6)),
            (json!("0x05"), json!("5")),
            (json!(null), json!("")),
            (json!({ "a": 1 }), json!({ "a": 1, "b": 2 })),
            (json!([1, 2]), json!([2, 1])),
            (json!(9_007_199_254_740_993_u64), json!("9007199254740992")),
        ] {
            assert!(!same_value(&one, &other) && !same_value(&other, &one), "{one} {other}");
        }
    }
}
