//! Recorded answers of promptfoo 0.123.1: our assertions agree with all of them, in verdict and score.

use bardo_eval_score::assertions::{AssertionInput, AssertionResult, decide};
use model::suite::{AssertionType, CaseAssertion};
use serde_json::Value;
use std::collections::BTreeMap;

/// One row per line: `id`, `assertion`, `output` and `expect`, which is `{pass, score}` or `{error}`.
const RECORDED: &str = include_str!("../../fixtures/promptfoo_assertions.jsonl");

/// Types of ours without a recorded answer: promptfoo has no `json_path`, and its `latency` and `cost` are no functions of a text.
const UNRECORDED: &[AssertionType] = &[AssertionType::JsonPath, AssertionType::Latency, AssertionType::Cost];

/// Returns our answer. What promptfoo fails or refuses when it is decided, such as an invalid regex, we refuse when it is read.
fn our_answer(assertion: &Value, output: &Value) -> AssertionResult {
    let refused = |reason: String| AssertionResult { pass: false, score: 0.0, reason };
    let assertion = match CaseAssertion::from_json(assertion) {
        Ok(assertion) => assertion,
        Err(problems) => return refused(format!("{problems:?}")),
    };
    let text = output.as_str().map_or_else(|| output.to_string(), str::to_owned);
    decide(&assertion, &AssertionInput { text: &text, ..AssertionInput::default() }).unwrap_or_else(|why| refused(why.to_string()))
}

#[test]
fn recorded_answers_of_promptfoo_agree() {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut differing = vec![];
    for line in RECORDED.lines() {
        let row: Value = serde_json::from_str(line).expect("a row");
        *counts.entry(row["assertion"]["type"].as_str().expect("a type").to_owned()).or_default() += 1;
        let ours = our_answer(&row["assertion"], &row["output"]);
        let expect = &row["expect"];
        let agrees = match (expect["pass"].as_bool(), expect["score"].as_f64()) {
            (Some(pass), Some(score)) => ours.pass == pass && (ours.score - score).abs() < 1e-9,
            // An error of theirs is never a pass of ours.
            _ => !ours.pass,
        };
        if !agrees {
            differing.push(format!("{line}: {ours:?}"));
        }
    }
    assert!(differing.is_empty(), "{} of {} differ: {differing:#?}", differing.len(), counts.values().sum::<usize>());
    assert_eq!(counts.values().sum::<usize>(), 426);
    for (word, kind) in AssertionType::ALL.iter().filter(|(_, kind)| !UNRECORDED.contains(kind)) {
        for name in [(*word).to_owned(), format!("not-{word}")] {
            assert!(counts.get(&name).is_some_and(|rows| *rows >= 2), "{kind:?} has no recorded answers for {name}");
        }
    }
}
