//! Equality of JSON values as Python defines it: 1 equals 1.0, and true equals 1.

use serde_json::{Map, Number, Value};

/// Returns whether Python's `==` holds for the values that its `json` module reads.
pub fn python_equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| python_equal(left, right))
        }
        (Value::Object(left), Value::Object(right)) => python_equal_maps(left, right),
        (Value::String(left), Value::String(right)) => left == right,
        (Value::Null, Value::Null) => true,
        _ => match (as_python_number(left), as_python_number(right)) {
            (Some(left), Some(right)) => left == right,
            (Some(_) | None, Some(_) | None) => false,
        },
    }
}

pub(crate) fn python_equal_maps(left: &Map<String, Value>, right: &Map<String, Value>) -> bool {
    left.len() == right.len() && left.iter().all(|(key, value)| right.get(key).is_some_and(|other| python_equal(value, other)))
}

/// Number whose equality is exact: whole numbers are never rounded to floating point.
#[derive(PartialEq)]
enum PythonNumber {
    Whole(i128),
    Fraction(f64),
}

fn as_python_number(value: &Value) -> Option<PythonNumber> {
    match value {
        Value::Bool(flag) => Some(PythonNumber::Whole(i128::from(*flag))),
        Value::Number(number) => Some(whole(number).map_or_else(|| fraction(number), PythonNumber::Whole)),
        Value::Null | Value::String(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn whole(number: &Number) -> Option<i128> {
    number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from))
}

fn fraction(number: &Number) -> PythonNumber {
    let value = number.as_f64().unwrap_or(f64::NAN);
    // Every whole f64 of this size has an exact i128.
    if value.fract() == 0.0 && value.abs() < 1e38 { PythonNumber::Whole(value as i128) } else { PythonNumber::Fraction(value) }
}

#[cfg(test)]
mod tests {
    use super::python_equal;
    use serde_json::json;

    #[test]
    fn equality_follows_python() {
        for (left, right, equal) in [
            (json!(1), json!(1.0), true),
            (json!(true), json!(1), true),
            (json!(false), json!(0.0), true),
            (json!(1), json!("1"), false),
            (json!(null), json!(0), false),
            (json!(9007199254740993_u64), json!(9007199254740992.0), false),
            (json!(0.1), json!(0.1), true),
            (json!({"a": 1, "b": [2]}), json!({"b": [2.0], "a": true}), true),
            (json!([1, 2]), json!([2, 1]), false),
            (json!({"a": 1}), json!({"a": 1, "b": null}), false),
        ] {
            assert_eq!(python_equal(&left, &right), equal, "{left} == {right}");
        }
    }
}
