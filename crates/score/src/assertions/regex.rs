//! `regex`: the pattern is found anywhere in the text. Search time is linear in the text, the size of a pattern is limited when it is read.

use super::{AssertionFinding, AssertionInput, MissingEvidence, excerpt};
use model::suite::{AssertionValue, CaseAssertion};

pub(super) fn regex(assertion: &CaseAssertion, input: &AssertionInput<'_>) -> Result<AssertionFinding, MissingEvidence> {
    let AssertionValue::Pattern(pattern) = &assertion.value else { return Err(MissingEvidence("regex has no value".into())) };
    Ok(AssertionFinding::of(pattern.is_match(input.text), format!("found {}", excerpt(input.text))))
}
