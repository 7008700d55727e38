//! `EvalLog` of Inspect as JSON, which its reader and viewer open.

use super::ExportedTrial;
use super::jsonl::trial_line;
use crate::formats::inspect::TRIAL_KEY;
use model::transcript::{LimitKind, ToolAnswer};
use model::{Ending, Event, EventKind, Reading, Score};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Mean of a scorer over the trials of a run.
#[derive(Debug, Clone, Copy, Default)]
struct ScorerMean {
    sum: f64,
    count: u64,
}

/// First pass over a run: the results that stand before the samples.
#[derive(Debug, Clone, Default)]
pub struct InspectResults {
    scorers: BTreeMap<String, ScorerMean>,
    trials: u64,
    scorable: u64,
}

impl InspectResults {
    pub fn add(&mut self, ending: &Ending, scores: &[Score]) {
        self.trials += 1;
        self.scorable += u64::from(ending.is_scorable());
        for score in scores {
            if let Some(value) = score_value(&score.reading) {
                let mean = self.scorers.entry(score.scorer.to_string()).or_default();
                mean.sum += value;
                mean.count += 1;
            }
        }
    }
}

/// Run whose samples follow.
#[derive(Debug, Clone, Copy)]
pub struct InspectHeader<'r> {
    pub run: &'r str,
    pub started: &'r str,
    pub ended: &'r str,
    pub subject: &'r str,
    pub workspace: &'r str,
    pub complete: bool,
}

/// Returns the beginning of the document, up to the bracket of the samples.
pub fn document_begin(header: &InspectHeader<'_>, results: &InspectResults) -> String {
    let scores: Vec<Value> = results
        .scorers
        .iter()
        .map(|(name, mean)| {
            let value = mean.sum / mean.count as f64;
            let metrics = json!({ "mean": { "name": "mean", "value": value, "params": {} } });
            json!({ "name": name, "scorer": name, "scored_samples": mean.count, "unscored_samples": results.trials - mean.count, "params": {}, "metrics": metrics })
        })
        .collect();
    let document = json!({
        "version": 2,
        "status": if header.complete { "success" } else { "cancelled" },
        "eval": {
            "eval_id": header.run, "run_id": header.run, "created": header.started, "task": "bardo-eval", "task_id": header.run,
            "task_version": 0, "task_attribs": {}, "task_args": {}, "dataset": { "name": header.workspace, "samples": results.trials },
            "model": header.subject, "model_args": {}, "config": {}, "packages": { "bardo-eval": env!("CARGO_PKG_VERSION") },
        },
        "plan": { "name": "plan", "steps": [], "config": {} },
        "results": { "total_samples": results.trials, "completed_samples": results.scorable, "scores": scores },
        "stats": { "started_at": header.started, "completed_at": header.ended, "model_usage": {} },
    });
    let mut text = document.to_string();
    text.pop();
    text.push_str(",\"samples\":[");
    text
}

/// Closes the list of samples and the document.
pub const DOCUMENT_END: &str = "]}\n";

/// Writes samples and counts the epochs of their cases.
#[derive(Debug, Clone, Default)]
pub struct InspectSamples {
    epochs: BTreeMap<String, u64>,
}

impl InspectSamples {
    /// Returns the sample of a trial.
    pub fn sample(&mut self, trial: &ExportedTrial<'_>) -> String {
        let transcript = trial.transcript;
        let epoch = self.epochs.entry(transcript.case.clone()).or_default();
        *epoch += 1;
        let mut messages: Vec<Value> = vec![];
        transcript.events.iter().for_each(|event| add_event(&mut messages, event));
        let last = messages.iter().rev().find(|message| message["role"] == "assistant").cloned();
        let completion = last.as_ref().and_then(|message| message["content"].as_str()).unwrap_or_default().to_owned();
        let choices: Vec<Value> = last.into_iter().map(|message| json!({ "message": message, "stop_reason": "stop" })).collect();
        let own: Value = serde_json::from_str(&trial_line(trial)).unwrap_or_default();
        let mut sample = json!({
            "id": transcript.case, "epoch": *epoch, "input": trial.first_user_text(), "target": "", "messages": messages,
            "output": { "model": transcript.subject, "choices": choices, "completion": completion },
            "scores": trial.scores.iter().filter_map(sample_score).collect::<Map<_, _>>(),
            "metadata": { "subject": transcript.subject, "seed": trial.seed, TRIAL_KEY: own },
            "store": {}, "events": [], "model_usage": {}, "attachments": {}, "uuid": transcript.trial.short(),
            "total_time": trial.wall_us as f64 / 1e6,
        });
        if let Some((key, value)) = ending_member(&transcript.ending) {
            sample[key] = value;
        }
        sample.to_string()
    }
}

fn ending_member(ending: &Ending) -> Option<(&'static str, Value)> {
    let error = || json!({ "message": ending.to_string(), "traceback": "", "traceback_ansi": "" });
    match ending {
        Ending::Finished | Ending::Refused | Ending::GaveUp => None,
        Ending::OverLimit { limit } => {
            let kind = match limit {
                LimitKind::Turns | LimitKind::Calls | LimitKind::Depth => "message",
                LimitKind::Tokens | LimitKind::Output => "token",
                LimitKind::Time => "time",
            };
            Some(("limit", json!({ "type": kind, "limit": 0 })))
        }
        Ending::Crashed { .. } | Ending::Hung | Ending::MalformedMove { .. } | Ending::Aborted { .. } | Ending::Unfunded => {
            Some(("error", error()))
        }
    }
}

fn score_value(reading: &Reading) -> Option<f64> {
    match reading {
        Reading::Tally { of: 0, .. } | Reading::Unscorable { .. } => None,
        Reading::Tally { hit, of } => Some(*hit as f64 / *of as f64),
        Reading::Level(level) => Some(*level),
    }
}

fn sample_score(score: &Score) -> Option<(String, Value)> {
    let value = score_value(&score.reading)?;
    Some((score.scorer.to_string(), json!({ "value": value, "explanation": score.reasons(), "metadata": { "reading": score.reading } })))
}

fn add_event(messages: &mut Vec<Value>, event: &Event) {
    match &event.happened {
        EventKind::UserSaid { text } => messages.push(json!({ "role": "user", "content": text, "source": "input" })),
        EventKind::Said { text } | EventKind::Asked { text } | EventKind::Refused { text } => messages.push(assistant(event, text)),
        EventKind::Called { call, tool, args } => add_call(messages, event, *call, tool, args),
        EventKind::Answered { call, answer } => {
            let mut message = json!({ "role": "tool", "tool_call_id": format!("call_{call}"), "content": "" });
            match answer {
                ToolAnswer::Result(value) => {
                    message["content"] = Value::String(value.as_str().map_or_else(|| value.to_string(), str::to_owned));
                }
                ToolAnswer::Error { message: why, .. } => message["error"] = json!({ "type": "unknown", "message": why }),
            }
            messages.push(message);
        }
        _ => {}
    }
}

fn assistant(event: &Event, text: &str) -> Value {
    json!({ "role": "assistant", "content": text, "source": "generate", "metadata": { "agent": event.by } })
}

/// Adds a call to the last message of its agent if nothing came in between, else to a new one.
fn add_call(messages: &mut Vec<Value>, event: &Event, call: u32, tool: &str, args: &Value) {
    let mut made = json!({ "id": format!("call_{call}"), "function": tool, "arguments": args, "type": "function" });
    if !args.is_object() {
        made["arguments"] = json!({});
        made["parse_error"] = Value::String(format!("the arguments are not an object: {args}"));
    }
    let follows = messages.last().is_some_and(|last| last["role"] == "assistant" && last["metadata"]["agent"] == event.by.as_str());
    if !follows {
        messages.push(assistant(event, ""));
    }
    if let Some(last) = messages.last_mut() {
        match last["tool_calls"].as_array_mut() {
            Some(calls) => calls.push(made),
            None => last["tool_calls"] = json!([made]),
        }
    }
}
