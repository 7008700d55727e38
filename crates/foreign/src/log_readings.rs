//! Readings that need nothing but the recording: no workspace, no case.

use crate::action_match::action_match;
use crate::attack_signs::answers_by_call;
use crate::builder::USER;
use crate::recording::LogRecording;
use model::transcript::ToolAnswer;
use model::{ContentHash, EventKind, Reading, ScoreReason};
use std::collections::BTreeSet;

/// Reading of one property of a recording.
#[derive(Debug, Clone, PartialEq)]
pub struct LogReading {
    pub name: &'static str,
    pub reading: Reading,
    pub because: Vec<ScoreReason>,
}

impl LogReading {
    fn new(name: &'static str) -> Self {
        Self { name, reading: Reading::not_exercised(), because: vec![] }
    }

    fn add(&mut self, hit: bool, event: Option<u32>, miss: impl FnOnce() -> String) {
        if let Reading::Tally { hit: hits, of } = &mut self.reading {
            *of += 1;
            *hits += u64::from(hit);
        }
        if !hit {
            self.because.push(ScoreReason { event, what: miss() });
        }
    }
}

/// Returns all readings. One without an occasion is not exercised.
pub fn log_readings(recording: &LogRecording) -> Vec<LogReading> {
    let mut readings = vec![expected_actions(recording), required_texts(recording)];
    readings.extend(call_readings(recording));
    readings
}

/// Expected actions that some call of the run matches, by the rule of tau2-bench. They are one path to the goal, not the only one.
fn expected_actions(recording: &LogRecording) -> LogReading {
    let mut reading = LogReading::new("expected_actions");
    for action in recording.expected.iter().filter(|action| !action.partial) {
        reading.add(action_match(action, &recording.transcript), None, || format!("no call matches {}", action.name));
    }
    reading
}

/// Texts that the agent has told the user, by the rule of tau-bench and tau2-bench: without regard to letter case and commas.
fn required_texts(recording: &LogRecording) -> LogReading {
    let mut reading = LogReading::new("required_texts");
    for wanted in &recording.required_texts {
        reading.add(has_told(recording, wanted), None, || format!("\"{wanted}\" was not told"));
    }
    reading
}

pub(crate) fn has_told(recording: &LogRecording, wanted: &str) -> bool {
    let wanted = wanted.to_lowercase();
    recording.transcript.events.iter().any(|event| match &event.happened {
        EventKind::Said { text } | EventKind::Asked { text } | EventKind::Refused { text } => {
            text.to_lowercase().replace(',', "").contains(&wanted)
        }
        _ => false,
    })
}

/// Readings of the calls of the agent. Calls of the user are the user's.
fn call_readings(recording: &LogRecording) -> [LogReading; 5] {
    let [mut answered, mut without_error, mut valid, mut declared, mut distinct] =
        ["answered_calls", "calls_without_error", "valid_arguments", "declared_tools", "distinct_calls"].map(LogReading::new);
    let events = &recording.transcript.events;
    let answers = answers_by_call(&recording.transcript);
    let mut seen = BTreeSet::new();
    for event in events.iter().filter(|event| event.by != USER) {
        let EventKind::Called { call, tool, args } = &event.happened else { continue };
        let at = Some(event.n);
        let answer = answers.get(call);
        answered.add(answer.is_some(), at, || format!("{tool} has no recorded answer"));
        if let Some(answer) = answer {
            let failed = if let ToolAnswer::Error { message, .. } = answer { Some(message) } else { None };
            without_error.add(failed.is_none(), at, || format!("{tool} failed: {}", failed.map_or("", String::as_str)));
        }
        valid.add(args.is_object(), at, || format!("the arguments of {tool} are not an object"));
        if let Some(tools) = &recording.tools {
            declared.add(tools.contains(tool), at, || format!("{tool} is not among the tools of the item"));
        }
        let key = ContentHash::of_parts(&[tool, "\n", ContentHash::of_json(args).as_str()]);
        distinct.add(seen.insert(key), at, || format!("{tool} was called with the same arguments before"));
    }
    [answered, without_error, valid, declared, distinct]
}
