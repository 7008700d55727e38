//! Last answer of a trial to the user.

use crate::evidence::Evidence;
use crate::facts::skill_run::skill_run;
use crate::facts::stated_figures::figures_in_text;
use crate::json_answer::parse_json_answer;
use model::EventKind;
use serde_json::Value;

/// Words with which a report claims success.
const SUCCESS_WORDS: &[&str] = &["success", "succeeded", "executed", "completed", "confirmed", "done", "ok"];

/// Event and text of the last answer to the user.
pub(super) fn final_report<'a>(evidence: &Evidence<'a>) -> Option<(u32, &'a str)> {
    if let Some((event, text)) = skill_run(evidence).and_then(|run| run.report()) {
        return Some((event.n, text));
    }
    evidence.transcript.events.iter().rev().find_map(|event| {
        let EventKind::Said { text } = &event.happened else { return None };
        (event.depth == 0).then_some((event.n, text.as_str()))
    })
}

/// Returns whether a report is JSON whose status claims success.
pub(super) fn claims_success(report: &str) -> bool {
    let status = parse_json_answer(report).and_then(|value| value.get("status").and_then(|status| status.as_str().map(str::to_lowercase)));
    status.is_some_and(|status| SUCCESS_WORDS.contains(&status.as_str()))
}

/// Returns whether a report cites a transaction: by hash, or in a field that is named like one.
pub(super) fn cites_transaction(report: &str) -> bool {
    let is_hash = |figure: &String| figure.starts_with("0x") && figure.len() == 66;
    figures_in_text(report).iter().any(is_hash) || parse_json_answer(report).is_some_and(|value| has_transaction(&value))
}

fn has_transaction(value: &Value) -> bool {
    let is_given = |value: &Value| value.as_str().is_some_and(|text| !text.trim().is_empty());
    match value {
        Value::Object(entries) => entries.iter().any(|(key, value)| {
            let key = key.to_lowercase();
            let named = key.starts_with("tx") || key.contains("transaction") || key == "hash" || key == "receipt";
            (named && is_given(value)) || has_transaction(value)
        }),
        Value::Array(items) => items.iter().any(has_transaction),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}
