//! `contains`, `contains-any`, `contains-all`, and their variants that ignore letter case.

use super::{AssertionFinding, AssertionInput, MissingEvidence, excerpt};
use model::suite::{AssertionType, AssertionValue, CaseAssertion};
use std::borrow::Cow;

pub(super) fn contains(assertion: &CaseAssertion, input: &AssertionInput<'_>) -> Result<AssertionFinding, MissingEvidence> {
    let missing = missing_parts(assertion, input);
    Ok(AssertionFinding::of(missing.is_empty(), format!("found {}", excerpt(input.text))))
}

pub(super) fn contains_any(assertion: &CaseAssertion, input: &AssertionInput<'_>) -> Result<AssertionFinding, MissingEvidence> {
    let holds = missing_parts(assertion, input).len() < parts(assertion).len();
    Ok(AssertionFinding::of(holds, format!("found {}", excerpt(input.text))))
}

pub(super) fn contains_all(assertion: &CaseAssertion, input: &AssertionInput<'_>) -> Result<AssertionFinding, MissingEvidence> {
    let missing = missing_parts(assertion, input);
    let lacks = if missing.is_empty() {
        String::new()
    } else {
        format!("lacks {}; ", missing.iter().map(|part| excerpt(part)).collect::<Vec<_>>().join(", "))
    };
    Ok(AssertionFinding::of(missing.is_empty(), format!("{lacks}found {}", excerpt(input.text))))
}

fn missing_parts<'a>(assertion: &'a CaseAssertion, input: &AssertionInput<'_>) -> Vec<&'a str> {
    let ignores_case = matches!(assertion.kind, AssertionType::Icontains | AssertionType::IcontainsAny | AssertionType::IcontainsAll);
    let folded = |text: &'a str| if ignores_case { Cow::Owned(text.to_lowercase()) } else { Cow::Borrowed(text) };
    let text = if ignores_case { Cow::Owned(input.text.to_lowercase()) } else { Cow::Borrowed(input.text) };
    parts(assertion).into_iter().filter(|part| !text.contains(folded(part).as_ref())).collect()
}

fn parts(assertion: &CaseAssertion) -> Vec<&str> {
    match &assertion.value {
        AssertionValue::Text(text) => vec![text],
        AssertionValue::TextList(texts) => texts.iter().map(String::as_str).collect(),
        AssertionValue::Absent
        | AssertionValue::Json(_)
        | AssertionValue::Pattern(_)
        | AssertionValue::Schema(_)
        | AssertionValue::PathTest { .. }
        | AssertionValue::Ecma(_)
        | AssertionValue::Words(_)
        | AssertionValue::Steps(_)
        | AssertionValue::Spans(_)
        | AssertionValue::Skills(_)
        | AssertionValue::Source(_) => vec![],
    }
}
