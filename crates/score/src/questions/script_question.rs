//! Questions for the JavaScript of a case: `javascript` of `expect.assert`, asked by the run about one trial, and its stored answers.

use crate::assertions::{AssertionInput, AssertionResult, MissingEvidence, ScriptAnswer, decide, function_body};
use model::suite::{AssertionValue, Case, CaseAssertion};
use model::{ContentHash, EventKind, Reading, Transcript};
use serde_json::{Value, json};

/// Name under which answers of scripts are stored. No scorer of a workspace can have it.
pub const SCRIPT_SCORER: &str = "assert:javascript";

/// Call of a script about one trial.
#[derive(Debug, Clone, PartialEq)]
pub struct ScriptQuestion {
    /// Hash of the code, its threshold and its arguments. Ties an answer to exactly this question.
    pub id: ContentHash,
    /// Body of a function of `output` and `context`.
    pub body: String,
    /// Last words of the agent; null if it said nothing.
    pub output: Value,
    /// `prompt`, `vars`, `test`, `provider` and `providerResponse` as in promptfoo; `transcript`, `toolCalls` and `ending` of the trial.
    pub context: Value,
}

/// Returns the question of an assertion about a trial; `None` if it is no script, or the subject did not end normally.
pub fn script_question(case: &Case, assertion: &CaseAssertion, transcript: &Transcript) -> Option<ScriptQuestion> {
    let AssertionValue::Source(source) = &assertion.value else { return None };
    if !transcript.ending.is_orderly() {
        return None;
    }
    // Verdicts of others are not evidence.
    let is_evidence = |kind: &EventKind| !matches!(kind, EventKind::Judged { .. } | EventKind::Misjudged { .. } | EventKind::Scored { .. });
    let events: Vec<_> = transcript.events.iter().filter(|event| is_evidence(&event.happened)).collect();
    let words = events.iter().rev().find_map(|event| {
        let (EventKind::Said { text } | EventKind::Asked { text } | EventKind::Refused { text }) = &event.happened else { return None };
        Some(text.clone())
    });
    let output = words.filter(|text| !text.trim().is_empty()).map_or(Value::Null, Value::String);
    let prompt =
        events.iter().find_map(|event| if let EventKind::UserSaid { text } = &event.happened { Some(text.as_str()) } else { None });
    let calls = events.iter().filter_map(|event| {
        let EventKind::Called { tool, args, .. } = &event.happened else { return None };
        Some(json!({ "name": tool, "args": args }))
    });
    let context = json!({
        "prompt": prompt, "vars": {}, "test": { "description": *case.id, "vars": {} }, "provider": { "id": transcript.subject },
        "providerResponse": { "output": output }, "transcript": events, "toolCalls": calls.collect::<Vec<_>>(), "ending": transcript.ending,
    });
    let body = function_body(source);
    let id = ContentHash::of_json(&json!({ "javascript": body, "threshold": assertion.threshold, "output": output, "context": context }));
    Some(ScriptQuestion { id, body, output, context })
}

/// Returns the reading of an answer, before `not-` is applied, with its reason. No verdict is unscorable.
pub fn script_reading(assertion: &CaseAssertion, answer: &ScriptAnswer) -> (Reading, String) {
    let plain = CaseAssertion { negated: false, ..assertion.clone() };
    match decide(&plain, &AssertionInput { script: Some(answer), ..AssertionInput::default() }) {
        Ok(AssertionResult { pass, reason, .. }) => (Reading::from_bool(pass), reason),
        Err(why) => (Reading::Unscorable { why: why.to_string() }, why.to_string()),
    }
}

/// Returns the stored reading of a question with the number of its event and its reason.
///
/// # Errors
/// If the script was not asked about this trial, or its answers differ.
pub fn stored_script_reading<'t>(
    question: &ScriptQuestion,
    transcript: &'t Transcript,
) -> Result<(u32, &'t Reading, String), MissingEvidence> {
    let mut answers = transcript.events.iter().filter_map(|event| {
        let EventKind::Scored { scorer, question: answered, reading, because } = &event.happened else { return None };
        (scorer == SCRIPT_SCORER && *answered == question.id).then(|| (event.n, reading, because.first().cloned().unwrap_or_default()))
    });
    let Some(first) = answers.next() else { return Err(MissingEvidence::new("the script was not run on this trial")) };
    if answers.any(|(_, other, _)| other != first.1) {
        return Err(MissingEvidence::new("two answers of the script differ"));
    }
    Ok(first)
}
