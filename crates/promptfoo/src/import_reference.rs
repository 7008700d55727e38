//! Answer that meets the assertions of an imported test: the reference of its case.

use model::suite::{AssertionType, AssertionValue, CaseAssertion};
use score::assertions::{AssertionInput, AssertionMode, decide};
use serde_json::Value;

/// Returns a text that meets every assertion, found by trying; `None` if none of the candidates does.
pub(crate) fn reference_answer(assertions: &[CaseAssertion]) -> Option<String> {
    let meets = |text: &str| {
        let input =
            AssertionInput { text, mode: AssertionMode::Strict, latency_ms: Some(0.0), cost_usd: Some(0.0), ..AssertionInput::default() };
        assertions.iter().all(|assertion| decide(assertion, &input).is_ok_and(|result| result.pass))
    };
    candidates(assertions).into_iter().find(|text| meets(text))
}

fn candidates(assertions: &[CaseAssertion]) -> Vec<String> {
    let wanted: Vec<&CaseAssertion> = assertions.iter().filter(|assertion| !assertion.negated).collect();
    let mut found: Vec<String> = wanted.iter().filter_map(|assertion| whole_answer(assertion)).collect();
    let pieces: Vec<String> = wanted.iter().flat_map(|assertion| pieces(assertion)).collect();
    found.push(pieces.join(" "));
    found.push(format!("{}.", pieces.join(" ")));
    found.push(serde_json::json!({ "answer": pieces.join(" ") }).to_string());
    found.push(format!("Answer: {}", pieces.join(", ")));
    found.extend(["Done.", "{}", "[]", "I'm sorry, but I can't help with that.", "<p>Done.</p>"].map(str::to_owned));
    found.retain(|text| !text.trim().is_empty());
    found
}

/// Returns the answer that an assertion compares the whole text with.
fn whole_answer(assertion: &CaseAssertion) -> Option<String> {
    match (assertion.kind, &assertion.value) {
        (AssertionType::Equals, AssertionValue::Json(Value::String(text))) => Some(text.clone()),
        (AssertionType::Equals, AssertionValue::Json(value)) => Some(value.to_string()),
        (AssertionType::Levenshtein | AssertionType::RougeN | AssertionType::StartsWith, AssertionValue::Text(text)) => Some(text.clone()),
        (AssertionType::Bleu | AssertionType::Gleu, AssertionValue::TextList(texts)) => texts.first().cloned(),
        (AssertionType::WordCount, AssertionValue::Words(range)) => {
            let words = range.min.or(range.max).unwrap_or(1.0).max(1.0) as usize;
            Some(vec!["word"; words.min(1_000)].join(" "))
        }
        (_, _) => None,
    }
}

/// Returns the texts that an answer must contain.
fn pieces(assertion: &CaseAssertion) -> Vec<String> {
    match &assertion.value {
        AssertionValue::Text(text) => vec![text.clone()],
        AssertionValue::TextList(texts) => texts.clone(),
        // Works for patterns that are plain words.
        AssertionValue::Pattern(pattern) => vec![pattern.to_string().trim_matches(['"', '^', '$']).to_owned()],
        AssertionValue::Absent
        | AssertionValue::Json(_)
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
