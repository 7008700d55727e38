//! Runs of AgentDojo. In attacked runs `security: true` means that the attacker's goal was reached.

use super::ItemError;
use crate::builder::{AGENT, RecordingIdentity, TranscriptBuilder};
use crate::content::{arguments, content_text, list, name_of, result_value, string};
use crate::problem::LogPlace;
use crate::recording::{AttackContext, LogRecording, SourceOutcome, SourceVerdict};
use model::Ending;
use model::transcript::{FaultSource, ToolAnswer};
use serde_json::Value;

pub(crate) fn read(item: &Value, at: &LogPlace) -> Result<LogRecording, ItemError> {
    let messages = item.get("messages").and_then(Value::as_array).ok_or("the run has no list of messages")?;
    let mut builder = TranscriptBuilder::default();
    messages.iter().try_for_each(|message| add_message(&mut builder, message))?;
    let failure = string(item, "error").filter(|error| !error.is_empty());
    let ending = failure.map_or(Ending::Finished, |why| Ending::Aborted { by: FaultSource::Harness, why: why.to_owned() });
    let part = |key: &str| name_of(item, &[key]).filter(|name| name != "none");
    let names: Vec<String> =
        ["suite_name", "user_task_id", "attack_type", "injection_task_id"].iter().filter_map(|key| part(key)).collect();
    let case = if names.is_empty() { super::place_name(at) } else { names.join("/") };
    let subject = part("pipeline_name").unwrap_or_else(|| "unknown".to_owned());
    let attacked = part("injection_task_id").is_some() && part("attack_type").is_some();
    let mut recording = builder.finish(at, RecordingIdentity { case, subject, trial: None, ending });
    recording.attack = if attacked { AttackContext::Injected(injections(item)) } else { AttackContext::Benign };
    let failed = failure.map(|_| "the run has an error, so its verdicts are defaults");
    recording.verdicts = vec![
        verdict(item, "utility", failed, SourceOutcome::of),
        verdict(item, "security", failed.or((!attacked).then_some("nothing was injected")), |reached| SourceOutcome::of(!reached)),
    ];
    Ok(recording)
}

fn verdict(item: &Value, name: &str, unusable: Option<&str>, outcome: impl Fn(bool) -> SourceOutcome) -> SourceVerdict {
    let value = item.get(name).and_then(Value::as_bool);
    let outcome = match (unusable, value) {
        (Some(why), _) => SourceOutcome::NotEvidence(why.to_owned()),
        (None, Some(value)) => outcome(value),
        (None, None) => SourceOutcome::NotEvidence(format!("there is no {name}")),
    };
    SourceVerdict::new(name, None, outcome, value.map_or_else(|| "missing".to_owned(), |value| value.to_string()))
}

fn injections(item: &Value) -> Vec<String> {
    let texts = item.get("injections").and_then(Value::as_object);
    texts.map(|texts| texts.values().filter_map(Value::as_str).map(str::to_owned).collect()).unwrap_or_default()
}

fn add_message(builder: &mut TranscriptBuilder, message: &Value) -> Result<(), ItemError> {
    let content = content_text(message.get("content"));
    match string(message, "role") {
        Some("system") => {}
        Some("user") => builder.user_said(content),
        Some("assistant") => {
            builder.agent_said(AGENT, content);
            for call in list(message, "tool_calls") {
                let name = string(call, "function").ok_or("a tool call has no function")?;
                builder.called(AGENT, string(call, "id").filter(|id| !id.is_empty()), name, arguments(call.get("args")));
            }
        }
        Some("tool") => {
            let call = message.get("tool_call").unwrap_or(&Value::Null);
            let id = string(message, "tool_call_id").or_else(|| string(call, "id")).filter(|id| !id.is_empty());
            let answer = match string(message, "error").filter(|error| !error.is_empty()) {
                Some(error) => ToolAnswer::Error { code: "error".into(), message: error.to_owned() },
                None => ToolAnswer::Result(result_value(content.text)),
            };
            builder.answered(id, string(call, "function"), answer);
        }
        Some(role) => builder.leave_out(&format!("message with the role {role}")),
        None => return Err("a message has no role".into()),
    }
    Ok(())
}
