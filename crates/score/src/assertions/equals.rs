//! `equals`: a list or mapping equals the text read as JSON; any other value equals the text itself.

use super::{AssertionFinding, AssertionInput, MissingEvidence, excerpt};
use model::suite::{AssertionValue, CaseAssertion};
use serde_json::Value;

pub(super) fn equals(assertion: &CaseAssertion, input: &AssertionInput<'_>) -> Result<AssertionFinding, MissingEvidence> {
    let AssertionValue::Json(wanted) = &assertion.value else { return Err(MissingEvidence("equals has no value".into())) };
    let holds = match wanted {
        Value::Null | Value::Array(_) | Value::Object(_) => {
            serde_json::from_str::<Value>(input.text).is_ok_and(|found| same_json(&found, wanted))
        }
        Value::Bool(_) | Value::Number(_) | Value::String(_) => plain_text(wanted) == input.text,
    };
    Ok(AssertionFinding::of(holds, format!("found {}", excerpt(input.text))))
}

/// Compares two values. Numbers are equal by amount: 1 is 1.0.
pub(super) fn same_json(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => left == right || left.as_f64() == right.as_f64(),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same_json(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len() && left.iter().all(|(key, left)| right.get(key).is_some_and(|right| same_json(left, right)))
        }
        (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_), _) => left == right,
    }
}

/// Returns the text of a value: strings as they are, whole numbers without a point, others as JSON.
pub(super) fn plain_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => match number.as_f64() {
            Some(float) if float.fract() == 0.0 && float.abs() < 1e15 => format!("{float:.0}"),
            Some(_) | None => number.to_string(),
        },
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}
