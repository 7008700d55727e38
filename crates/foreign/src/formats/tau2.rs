//! Results of tau2-bench: simulations with tools of the agent and of the user, and the checks behind their reward.

use super::tau_bench::reward_verdict;
use super::{ItemError, identity_of};
use crate::builder::{AGENT, TranscriptBuilder, USER};
use crate::content::{arguments, content_text, list, name_of, result_value, string};
use crate::problem::LogPlace;
use crate::recording::{AttackContext, ExpectedAction, LogRecording, SourceOutcome, SourceVerdict};
use model::Ending;
use model::transcript::{FaultSource, LimitKind, ToolAnswer};
use serde_json::Value;

/// Most tasks that are searched for the one of a simulation.
const MAX_TASKS: usize = 10_000;

/// Reads a simulation. The header holds the tasks and the name of the agent's model.
pub(crate) fn read(item: &Value, header: &Value, at: &LogPlace) -> Result<LogRecording, ItemError> {
    let messages = item.get("messages").and_then(Value::as_array).ok_or("the simulation has no list of messages")?;
    let mut builder = TranscriptBuilder::default();
    messages.iter().try_for_each(|message| add_message(&mut builder, message))?;
    let (ending, failure) = ending_of(string(item, "termination_reason"));
    let mut identity = identity_of(item, at, ending);
    if let Some(model) = header.pointer("/info/agent_info/llm").and_then(Value::as_str) {
        identity.subject = model.to_owned();
    }
    let case = identity.case.clone();
    let mut recording = builder.finish(at, identity);
    let reward = item.get("reward_info").filter(|info| info.is_object()).unwrap_or(&Value::Null);
    let task = list(header, "tasks").iter().take(MAX_TASKS).find(|task| name_of(task, &["id"]).as_ref() == Some(&case));
    let criteria = task.and_then(|task| task.get("evaluation_criteria")).unwrap_or(&Value::Null);
    recording.verdicts.push(reward_verdict(reward.get("reward"), failure.as_deref()));
    add_actions(&mut recording, list(reward, "action_checks"), list(criteria, "actions"))?;
    add_texts(&mut recording, list(reward, "communicate_checks"), list(criteria, "communicate_info"));
    recording.attack = AttackContext::Benign;
    Ok(recording)
}

fn add_message(builder: &mut TranscriptBuilder, message: &Value) -> Result<(), ItemError> {
    let content = content_text(message.get("content"));
    let role = string(message, "role").ok_or("a message has no role")?;
    let by = match role {
        "assistant" => AGENT,
        "user" => USER,
        "tool" if message.get("tool_messages").is_some() => {
            return list(message, "tool_messages").iter().try_for_each(|answer| add_answer(builder, answer));
        }
        "tool" => return add_answer(builder, message),
        "system" => return Ok(()),
        other => {
            builder.leave_out(&format!("message with the role {other}"));
            return Ok(());
        }
    };
    if by == AGENT {
        builder.agent_said(AGENT, content)
    } else {
        builder.user_said(content)
    }
    for call in list(message, "tool_calls") {
        let name = string(call, "name").ok_or("a tool call has no name")?;
        let requestor = if string(call, "requestor").unwrap_or(role) == USER { USER } else { AGENT };
        builder.called(requestor, string(call, "id"), name, arguments(call.get("arguments")));
    }
    Ok(())
}

fn add_answer(builder: &mut TranscriptBuilder, message: &Value) -> Result<(), ItemError> {
    let text = content_text(message.get("content")).text;
    let answer = if message.get("error").and_then(Value::as_bool) == Some(true) {
        ToolAnswer::Error { code: "error".into(), message: text }
    } else {
        ToolAnswer::Result(result_value(text))
    };
    builder.answered(string(message, "id").or_else(|| string(message, "tool_call_id")), None, answer);
    Ok(())
}

/// Returns the ending, and the reason why the reward says nothing.
fn ending_of(reason: Option<&str>) -> (Ending, Option<String>) {
    match reason {
        Some("max_steps") => (Ending::OverLimit { limit: LimitKind::Turns }, None),
        Some(why @ ("too_many_errors" | "agent_error")) => (Ending::Crashed { why: why.to_owned() }, None),
        Some(why @ ("infrastructure_error" | "user_error")) => {
            let by = if why == "user_error" { FaultSource::Simulator } else { FaultSource::Harness };
            (Ending::Aborted { by, why: why.to_owned() }, Some(format!("the simulation ended with {why}")))
        }
        Some(_) | None => (Ending::Finished, None),
    }
}

/// Takes the actions from the checks, which carry them, or from the task if nothing was checked.
fn add_actions(recording: &mut LogRecording, checks: &[Value], task: &[Value]) -> Result<(), ItemError> {
    for check in checks {
        let action = check.get("action").ok_or("an action check has no action")?;
        let about = recording.expected.len();
        let action = expected_action(action)?;
        let outcome = match check.get("action_match").and_then(Value::as_bool) {
            _ if action.partial => SourceOutcome::NotEvidence("the source gives part of the credit".into()),
            Some(matched) => SourceOutcome::of(matched),
            None => SourceOutcome::NotEvidence("there is no action_match".into()),
        };
        let written = check.get("action_match").map_or_else(|| "missing".to_owned(), ToString::to_string);
        recording.expected.push(action);
        recording.verdicts.push(SourceVerdict::new("action_match", Some(about), outcome, written));
    }
    if checks.is_empty() {
        recording.expected = task.iter().map(expected_action).collect::<Result<_, _>>()?;
    }
    Ok(())
}

fn expected_action(action: &Value) -> Result<ExpectedAction, ItemError> {
    let compare = action.get("compare_args").and_then(Value::as_array);
    Ok(ExpectedAction {
        name: string(action, "name").ok_or("an expected action has no name")?.to_owned(),
        arguments: action.get("arguments").and_then(Value::as_object).cloned().unwrap_or_default(),
        compare_args: compare.map(|keys| keys.iter().filter_map(Value::as_str).map(str::to_owned).collect()),
        partial: action.get("allow_partial_match").and_then(Value::as_bool) == Some(true),
    })
}

fn add_texts(recording: &mut LogRecording, checks: &[Value], task: &[Value]) {
    for check in checks {
        let Some(info) = string(check, "info") else { continue };
        let judged = string(check, "justification").is_some_and(|why| why.starts_with("[llm_judge]"));
        let outcome = match check.get("met").and_then(Value::as_bool) {
            Some(_) if judged => SourceOutcome::NotEvidence("the source asked a judge".into()),
            Some(met) => SourceOutcome::of(met),
            None => SourceOutcome::NotEvidence("there is no verdict".into()),
        };
        let written = check.get("met").map_or_else(|| "missing".to_owned(), ToString::to_string);
        recording.verdicts.push(SourceVerdict::new("communicate", Some(recording.required_texts.len()), outcome, written));
        recording.required_texts.push(info.to_owned());
    }
    if checks.is_empty() {
        recording.required_texts = task.iter().filter_map(Value::as_str).map(str::to_owned).collect();
    }
}
