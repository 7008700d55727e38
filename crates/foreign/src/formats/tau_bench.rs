//! Runs of tau-bench: OpenAI chat messages under `traj`, with a reward and the expected actions.

use super::openai_chat::add_message;
use super::{ItemError, identity_of};
use crate::builder::TranscriptBuilder;
use crate::content::{list, result_value, string};
use crate::problem::LogPlace;
use crate::recording::{AttackContext, ExpectedAction, LogRecording, SourceOutcome, SourceVerdict};
use model::Ending;
use model::transcript::{FaultSource, ToolAnswer};
use serde_json::Value;

/// Tools of tau-bench report failures as texts that begin like this.
const ERROR: &str = "Error: ";

pub(crate) fn read(item: &Value, at: &LogPlace) -> Result<LogRecording, ItemError> {
    let messages = item.get("traj").and_then(Value::as_array).ok_or("there is no list under traj")?;
    let info = item.get("info").unwrap_or(&Value::Null);
    let mut builder = TranscriptBuilder::default();
    messages.iter().try_for_each(|message| add_message(&mut builder, message, tool_answer))?;
    // A run whose environment failed carries the error in place of its task, and a reward of 0 that says nothing.
    let failure = string(info, "error").map(str::to_owned);
    let ending = match &failure {
        Some(why) => Ending::Aborted { by: FaultSource::Harness, why: why.clone() },
        None => Ending::Finished,
    };
    let mut recording = builder.finish(at, identity_of(item, at, ending));
    let task = info.get("task").unwrap_or(&Value::Null);
    recording.expected = list(task, "actions").iter().filter_map(expected_action).collect();
    recording.required_texts = list(task, "outputs").iter().filter_map(Value::as_str).map(str::to_owned).collect();
    recording.verdicts = vec![reward_verdict(item.get("reward"), failure.as_deref())];
    recording.attack = AttackContext::Benign;
    Ok(recording)
}

fn tool_answer(text: String) -> ToolAnswer {
    match text.strip_prefix(ERROR) {
        Some(message) => ToolAnswer::Error { code: "error".into(), message: message.to_owned() },
        None => ToolAnswer::Result(result_value(text)),
    }
}

fn expected_action(action: &Value) -> Option<ExpectedAction> {
    let arguments = action.get("kwargs").or_else(|| action.get("arguments")).and_then(Value::as_object).cloned().unwrap_or_default();
    // tau-bench compares databases, so that its reference path is compared in full here.
    let compare_args = Some(arguments.keys().cloned().collect());
    Some(ExpectedAction { name: string(action, "name")?.to_owned(), arguments, compare_args, partial: false })
}

/// Returns the verdict of a reward. Like the benchmarks, counts 1 as success, up to rounding.
pub(super) fn reward_verdict(reward: Option<&Value>, failure: Option<&str>) -> SourceVerdict {
    let written = reward.map_or_else(|| "missing".to_owned(), ToString::to_string);
    let outcome = match (failure, reward.and_then(Value::as_f64)) {
        (Some(why), _) => SourceOutcome::NotEvidence(why.to_owned()),
        (None, Some(value)) => SourceOutcome::of((value - 1.0).abs() <= 1e-6),
        (None, None) => SourceOutcome::NotEvidence("there is no reward".into()),
    };
    SourceVerdict::new("reward", None, outcome, written)
}
