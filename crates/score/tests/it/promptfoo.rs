//! Recorded answers of promptfoo 0.123.1: in its mode our assertions agree with all of them, in verdict, score and error. The strict mode
//! differs only where the guide says so.

use bardo_eval_score::assertions::{AssertionInput, AssertionMode, AssertionResult, TraceSpan, decide, steps_of_spans};
use model::suite::{AssertionType, CaseAssertion};
use serde_json::Value;
use std::collections::BTreeMap;

/// One row per line: `id`, `assertion`, `output`, `spans` and `expect`, which is `{pass, score}` or `{error}`.
const RECORDED: &str = include_str!("../../fixtures/promptfoo_assertions.jsonl");

/// Types without a recorded answer that is a function of output and trace.
const UNRECORDED: &[AssertionType] = &[
    AssertionType::JsonPath,
    AssertionType::Latency,
    AssertionType::Cost,
    AssertionType::IsHtml,
    AssertionType::ContainsHtml,
    AssertionType::SpanCount,
    AssertionType::SpanDuration,
    AssertionType::ErrorSpans,
    AssertionType::FinishReason,
    AssertionType::Perplexity,
    AssertionType::PerplexityScore,
    AssertionType::Guardrails,
    AssertionType::SkillUsed,
    AssertionType::ValidToolsCall,
    // Recorded; the crate with the engine compares them.
    AssertionType::Javascript,
];

/// Patterns that only a JavaScript engine reads. The crate with the engine compares them.
fn needs_engine(row: &Value) -> bool {
    let kind = row["assertion"]["type"].as_str().expect("a type");
    let base = kind.strip_prefix("not-").unwrap_or(kind);
    let outside = row["assertion"]["value"].as_str() == Some("(") || !row["output"].as_str().unwrap_or_default().is_ascii();
    base == "javascript" || (base == "regex" && outside)
}

fn our_answer(row: &Value, mode: AssertionMode) -> Result<AssertionResult, String> {
    let (assertion, output) = (&row["assertion"], &row["output"]);
    let kind = assertion["type"].as_str().expect("a type");
    let assertion = CaseAssertion::from_promptfoo(kind, assertion.get("value"), assertion["threshold"].as_f64())?;
    let text = output.as_str().map_or_else(|| output.to_string(), str::to_owned);
    let spans: Option<Vec<TraceSpan>> = row["spans"].as_array().map(|spans| spans.iter().filter_map(TraceSpan::from_json).collect());
    let steps = spans.as_ref().map(|spans| steps_of_spans(spans, &[]));
    let input = AssertionInput {
        text: &text,
        mode,
        output: Some(output),
        spans: spans.as_deref(),
        steps: steps.as_deref(),
        ..AssertionInput::default()
    };
    decide(&assertion, &input).map_err(|why| why.to_string())
}

fn rows() -> impl Iterator<Item = Value> {
    RECORDED.lines().map(|line| serde_json::from_str(line).expect("a row"))
}

#[test]
fn recorded_answers_of_promptfoo_agree() {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let (mut differing, mut left_out) = (vec![], 0);
    for row in rows() {
        *counts.entry(row["assertion"]["type"].as_str().expect("a type").to_owned()).or_default() += 1;
        if needs_engine(&row) {
            left_out += 1;
            continue;
        }
        let ours = our_answer(&row, AssertionMode::Compat);
        let expect = &row["expect"];
        let agrees = match (&ours, expect["pass"].as_bool(), expect["score"].as_f64()) {
            (Ok(ours), Some(pass), Some(score)) => ours.pass == pass && (ours.score - score).abs() < 1e-9,
            (Err(_), None, None) => expect["error"] == true,
            (_, _, _) => false,
        };
        if !agrees {
            differing.push(format!("{row}: {ours:?}"));
        }
    }
    assert!(differing.is_empty(), "{} of {} differ: {differing:#?}", differing.len(), counts.values().sum::<usize>());
    assert_eq!((counts.values().sum::<usize>(), left_out), (1480, 49));
    for (word, kind) in AssertionType::ALL.iter().filter(|(_, kind)| !UNRECORDED.contains(kind)) {
        for name in [(*word).to_owned(), format!("not-{word}")] {
            assert!(counts.get(&name).is_some_and(|rows| *rows >= 2), "{kind:?} has no recorded answers for {name}");
        }
    }
}

/// Differences of the strict mode on the recorded inputs, by type. Each has a line in docs/guide/promptfoo.md.
#[test]
fn strict_mode_differs_only_where_documented() {
    let mut differing: BTreeMap<String, usize> = BTreeMap::new();
    for row in rows().filter(|row| !needs_engine(row)) {
        let (strict, compat) = (our_answer(&row, AssertionMode::Strict), our_answer(&row, AssertionMode::Compat));
        let same = match (&strict, &compat) {
            (Ok(strict), Ok(compat)) => strict.pass == compat.pass && strict.score == compat.score,
            (Err(_), Err(_)) => true,
            (Ok(_), Err(_)) | (Err(_), Ok(_)) => false,
        };
        if !same {
            *differing.entry(row["assertion"]["type"].as_str().expect("a type").to_owned()).or_default() += 1;
        }
    }
    assert_eq!(differing.keys().collect::<Vec<_>>(), ["is-refusal", "not-tool-call-f1"], "{differing:?}");
}
