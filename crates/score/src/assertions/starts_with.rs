//! `starts-with`: the text begins with the value, in the same letter case.

use super::{AssertionFinding, AssertionInput, MissingEvidence, excerpt};
use model::suite::{AssertionValue, CaseAssertion};

pub(super) fn starts_with(assertion: &CaseAssertion, input: &AssertionInput<'_>) -> Result<AssertionFinding, MissingEvidence> {
    let AssertionValue::Text(start) = &assertion.value else { return Err(MissingEvidence("starts-with has no value".into())) };
    Ok(AssertionFinding::of(input.text.starts_with(start.as_str()), format!("found {}", excerpt(input.text))))
}
