//! `word-count`: the number of words between white space is the value, or within its bounds.

use super::js_space::js_words;
use super::{AssertionFinding, AssertionInput, MissingEvidence};
use model::suite::{AssertionValue, CaseAssertion};

pub(super) fn word_count(assertion: &CaseAssertion, input: &AssertionInput<'_>) -> Result<AssertionFinding, MissingEvidence> {
    let AssertionValue::Words(range) = &assertion.value else { return MissingEvidence::of("word-count has no value") };
    let count = js_words(input.text).iter().filter(|word| !word.is_empty()).count();
    Ok(AssertionFinding::of(range.contains(count as f64), format!("found {}", model::count(count, "word"))))
}
