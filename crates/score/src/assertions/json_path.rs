//! `json_path` (ours): tests the value at a path of a JSON text. With wildcards, one of the values at the path must hold.

use super::equals::{plain_text, same_json};
use super::{AssertionFinding, AssertionInput, MissingEvidence, excerpt};
use crate::json_answer::parse_json_answer;
use model::suite::{AssertionValue, CaseAssertion, PathTest};
use serde_json::Value;

pub(super) fn json_path(assertion: &CaseAssertion, input: &AssertionInput<'_>) -> Result<AssertionFinding, MissingEvidence> {
    let AssertionValue::PathTest { path, test } = &assertion.value else { return Err(MissingEvidence("json_path has no path".into())) };
    let Some(value) = parse_json_answer(input.text) else {
        return Ok(AssertionFinding::Unreadable(format!("not JSON: {}", excerpt(input.text))));
    };
    let found = path.select(&value);
    if found.is_empty() {
        return Ok(AssertionFinding::Unreadable(format!("nothing at {path} of {}", excerpt(input.text))));
    }
    let shown = found.iter().take(3).map(|value| excerpt(&plain_text(value))).collect::<Vec<_>>().join(", ");
    Ok(AssertionFinding::of(found.iter().any(|value| holds(test, value)), format!("found {shown} at {path}")))
}

fn holds(test: &PathTest, value: &Value) -> bool {
    match test {
        PathTest::Equals(wanted) => same_json(value, wanted),
        PathTest::Contains(part) => plain_text(value).contains(part.as_str()),
        PathTest::Regex(pattern) => pattern.is_match(&plain_text(value)),
        PathTest::Schema(schema) => schema.accepts(value),
    }
}
