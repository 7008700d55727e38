//! Samples of Inspect, from a JSON log or an entry of an `.eval` archive.

use super::{ItemError, identity_of, jsonl};
use crate::builder::{AGENT, TranscriptBuilder};
use crate::content::{ContentText, arguments, content_text, list, result_value, string};
use crate::problem::LogPlace;
use crate::recording::{LogRecording, SourceOutcome, SourceVerdict};
use model::Ending;
use model::transcript::{FaultSource, LimitKind, ToolAnswer};
use serde_json::{Map, Value};

/// Key of the metadata under which our export keeps the whole trial.
pub(crate) const TRIAL_KEY: &str = "bardo_eval";

/// Reads a sample. The header names the model.
pub(crate) fn read(item: &Value, header: &Value, at: &LogPlace) -> Result<LogRecording, ItemError> {
    if let Some(trial) = item.get("metadata").and_then(|metadata| metadata.get(TRIAL_KEY)).filter(|trial| trial.is_object()) {
        return jsonl::read(trial.to_string().as_bytes(), at);
    }
    let messages = item.get("messages").and_then(Value::as_array).ok_or("the sample has no list of messages")?;
    let attachments = item.get("attachments").and_then(Value::as_object);
    let mut builder = TranscriptBuilder::default();
    messages.iter().try_for_each(|message| add_message(&mut builder, message, attachments))?;
    let failure = item.get("error").filter(|error| error.is_object()).map(|error| string(error, "message").unwrap_or("error").to_owned());
    let mut identity = identity_of(item, at, ending_of(item, failure.as_deref()));
    if let Some(model) = header.pointer("/eval/model").and_then(Value::as_str) {
        identity.subject = model.to_owned();
    }
    let mut recording = builder.finish(at, identity);
    recording.verdicts = verdicts(item, failure.as_deref());
    Ok(recording)
}

fn ending_of(item: &Value, failure: Option<&str>) -> Ending {
    if let Some(why) = failure {
        return Ending::Aborted { by: FaultSource::Harness, why: why.to_owned() };
    }
    match item.get("limit").and_then(|limit| string(limit, "type")) {
        Some("message" | "turn") => Ending::OverLimit { limit: LimitKind::Turns },
        Some("token" | "cost") => Ending::OverLimit { limit: LimitKind::Tokens },
        Some("time" | "working") => Ending::OverLimit { limit: LimitKind::Time },
        Some(other) => Ending::Crashed { why: format!("stopped by the limit {other}") },
        None => Ending::Finished,
    }
}

fn verdicts(item: &Value, failure: Option<&str>) -> Vec<SourceVerdict> {
    let scores = item.get("scores").and_then(Value::as_object);
    let verdict = |(name, score): (&String, &Value)| {
        let value = score.get("value").unwrap_or(&Value::Null);
        let outcome = match (failure, grade(value)) {
            (Some(why), _) => SourceOutcome::NotEvidence(format!("the sample has an error: {why}")),
            (None, Some(good)) => SourceOutcome::of(good),
            (None, None) => SourceOutcome::NotEvidence("the score is not a single grade".into()),
        };
        let written = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        SourceVerdict::new(name, None, outcome, written)
    };
    scores.map(|scores| scores.iter().map(verdict).collect()).unwrap_or_default()
}

/// Returns whether a grade is full credit: C, true or 1. Everything less is not.
fn grade(value: &Value) -> Option<bool> {
    match value {
        Value::String(word) => match word.as_str() {
            "C" => Some(true),
            "I" | "P" => Some(false),
            "N" => None,
            other => match other.to_lowercase().as_str() {
                "yes" | "true" | "pass" => Some(true),
                "no" | "false" | "fail" => Some(false),
                _ => None,
            },
        },
        Value::Bool(flag) => Some(*flag),
        Value::Number(number) => number.as_f64().map(|number| (number - 1.0).abs() <= 1e-6),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

type Attachments<'a> = Option<&'a Map<String, Value>>;

fn add_message(builder: &mut TranscriptBuilder, message: &Value, attachments: Attachments<'_>) -> Result<(), ItemError> {
    let content = attached(content_text(message.get("content")), attachments);
    match string(message, "role") {
        Some("system") => {}
        Some("user") => builder.user_said(content),
        Some("assistant") => {
            builder.agent_said(AGENT, content);
            for call in list(message, "tool_calls") {
                let name = string(call, "function").ok_or("a tool call has no function")?;
                // Arguments that could not be parsed are an empty object beside the error.
                let args = match string(call, "parse_error") {
                    Some(error) => Value::String(error.to_owned()),
                    None => arguments(call.get("arguments")),
                };
                builder.called(AGENT, string(call, "id"), name, args);
            }
        }
        Some("tool") => {
            let answer = match message.get("error").filter(|error| error.is_object()) {
                Some(error) => ToolAnswer::Error {
                    code: string(error, "type").unwrap_or("error").to_owned(),
                    message: string(error, "message").unwrap_or_default().to_owned(),
                },
                None => ToolAnswer::Result(result_value(content.text)),
            };
            builder.answered(string(message, "tool_call_id"), string(message, "function"), answer);
        }
        Some(role) => builder.leave_out(&format!("message with the role {role}")),
        None => return Err("a message has no role".into()),
    }
    Ok(())
}

/// Replaces a reference by the long text that the sample keeps apart.
fn attached(content: ContentText, attachments: Attachments<'_>) -> ContentText {
    let kept = content.text.strip_prefix("attachment://").and_then(|hash| attachments?.get(hash)?.as_str());
    match kept {
        Some(text) => ContentText { text: text.to_owned(), ..content },
        None => content,
    }
}
