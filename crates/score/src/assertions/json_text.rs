//! `is-json`: the whole text is JSON. `contains-json`: it contains a JSON object. Both with an optional schema.

use super::{AssertionFinding, AssertionInput, MissingEvidence, excerpt};
use model::suite::{AssertionValue, CaseAssertion};
use serde_json::Value;

/// Maximum places in a text where an object may begin.
const MAX_STARTS: usize = 1_000;
/// Maximum bytes of an object in a text.
const MAX_OBJECT_BYTES: usize = 100_000;

pub(super) fn is_json(assertion: &CaseAssertion, input: &AssertionInput<'_>) -> Result<AssertionFinding, MissingEvidence> {
    Ok(match serde_json::from_str::<Value>(input.text) {
        Err(_) => AssertionFinding::of(false, format!("not JSON: {}", excerpt(input.text))),
        Ok(value) => match schema_violation(assertion, &value) {
            Some(why) => AssertionFinding::of(false, format!("{why}: {}", excerpt(input.text))),
            None => AssertionFinding::of(true, format!("found {}", excerpt(input.text))),
        },
    })
}

pub(super) fn contains_json(assertion: &CaseAssertion, input: &AssertionInput<'_>) -> Result<AssertionFinding, MissingEvidence> {
    let objects = objects_in(input.text);
    let wrong: Vec<String> = objects.iter().filter_map(|value| schema_violation(assertion, value)).collect();
    Ok(match wrong.last() {
        _ if objects.is_empty() => AssertionFinding::of(false, format!("no JSON object in {}", excerpt(input.text))),
        Some(why) if wrong.len() == objects.len() => AssertionFinding::of(false, format!("{why}: {}", excerpt(input.text))),
        Some(_) | None => AssertionFinding::of(true, format!("found {}", excerpt(input.text))),
    })
}

/// Returns how a value violates the schema of the assertion, if it has one.
fn schema_violation(assertion: &CaseAssertion, value: &Value) -> Option<String> {
    let AssertionValue::Schema(schema) = &assertion.value else { return None };
    let first = schema.violations(value).into_iter().next()?;
    let at = if first.path.is_empty() { String::new() } else { format!(" at {}", first.path) };
    Some(format!("does not fit the schema{at}: {}", first.what))
}

/// Returns the objects in a text. An object that the text does not close is closed at its end, as promptfoo does.
fn objects_in(text: &str) -> Vec<Value> {
    let mut found = vec![];
    let mut from = 0;
    for _ in 0..MAX_STARTS {
        let Some(start) = text[from..].find('{').map(|at| from + at) else { break };
        match object_at(&text[start..]) {
            Some((object, length)) => {
                found.push(object);
                from = start + length;
            }
            None => from = start + 1,
        }
    }
    found
}

/// Returns the object at the beginning of a text, and its length.
fn object_at(text: &str) -> Option<(Value, usize)> {
    let mut open = 0_usize;
    let mut end = text.len().min(MAX_OBJECT_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    for (at, c) in text[..end].char_indices() {
        match c {
            '{' => open += 1,
            '}' => open -= 1,
            _ => {}
        }
        if open == 0 {
            end = at + 1;
            break;
        }
    }
    let closed = format!("{}{}", &text[..end], "}".repeat(open));
    serde_json::from_str(&closed).ok().filter(Value::is_object).map(|object| (object, end))
}
