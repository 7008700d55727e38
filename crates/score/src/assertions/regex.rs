//! `regex`: the pattern is found anywhere in the text. Search time is linear in the text, the size of a pattern is limited when it is read.
//! Patterns that only JavaScript reads are searched by its engine, and the answer is evidence.

use super::{AssertionFinding, AssertionInput, AssertionMode, MissingEvidence, ScriptAnswer, excerpt};
use model::suite::{AssertionValue, CaseAssertion, EcmaPattern};

pub(super) fn regex(assertion: &CaseAssertion, input: &AssertionInput<'_>) -> Result<AssertionFinding, MissingEvidence> {
    match &assertion.value {
        AssertionValue::Pattern(pattern) => Ok(found(pattern.is_match(input.text), input)),
        AssertionValue::Ecma(pattern) => ecma(pattern, input),
        AssertionValue::Absent
        | AssertionValue::Text(_)
        | AssertionValue::TextList(_)
        | AssertionValue::Json(_)
        | AssertionValue::Schema(_)
        | AssertionValue::PathTest { .. }
        | AssertionValue::Words(_)
        | AssertionValue::Steps(_)
        | AssertionValue::Spans(_)
        | AssertionValue::Skills(_)
        | AssertionValue::Source(_) => MissingEvidence::of("regex has no value"),
    }
}

fn ecma(pattern: &EcmaPattern, input: &AssertionInput<'_>) -> Result<AssertionFinding, MissingEvidence> {
    if let Some(holds) = pattern.is_match(input.text) {
        return Ok(found(holds, input));
    }
    match input.script {
        Some(ScriptAnswer::Bool(holds)) => Ok(found(*holds, input)),
        // promptfoo fails an invalid pattern, with not- too.
        Some(ScriptAnswer::Threw(why)) if input.mode == AssertionMode::Compat => {
            Ok(AssertionFinding::Unreadable(format!("Invalid regex pattern: {why}")))
        }
        Some(answer) => MissingEvidence::of(format!("the pattern cannot be searched: {}", answer.describe())),
        None => MissingEvidence::of("the pattern needs a JavaScript engine, and there is no answer of one"),
    }
}

fn found(holds: bool, input: &AssertionInput<'_>) -> AssertionFinding {
    AssertionFinding::of(holds, format!("found {}", excerpt(input.text)))
}
