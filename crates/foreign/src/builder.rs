//! Builds a transcript from messages: numbers events and calls, and assigns answers to calls.

use crate::content::ContentText;
use crate::problem::LogPlace;
use crate::recording::{AttackContext, LogRecording, LostPart};
use model::transcript::ToolAnswer;
use model::{ContentHash, Ending, Event, EventKind, Transcript};
use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};

/// Most events of a recording.
pub(crate) const MAX_EVENTS: usize = 200_000;

pub(crate) const AGENT: &str = "assistant";
pub(crate) const USER: &str = "user";

#[derive(Debug, Default)]
pub(crate) struct TranscriptBuilder {
    events: Vec<Event>,
    calls: u32,
    /// Calls without an answer, by id and by tool.
    open_by_id: BTreeMap<String, VecDeque<u32>>,
    open_by_tool: BTreeMap<String, VecDeque<u32>>,
    callers: BTreeMap<u32, (String, u32)>,
    left_out: BTreeMap<String, u64>,
    pub at_ms: u64,
    pub depth: u32,
}

impl TranscriptBuilder {
    pub(crate) fn push(&mut self, by: &str, happened: EventKind) {
        if self.events.len() >= MAX_EVENTS {
            return self.lose(LostPart::Event);
        }
        let n = u32::try_from(self.events.len() + 1).unwrap_or(u32::MAX);
        self.events.push(Event { n, at_ms: self.at_ms, by: by.to_owned(), depth: self.depth, happened });
    }

    /// Counts a part of the item that has no place in a transcript.
    pub(crate) fn leave_out(&mut self, what: &str) {
        // Kinds are chosen by the log, so that their number is bounded too.
        let what = if self.left_out.len() < 50 || self.left_out.contains_key(what) { what } else { "part of another kind" };
        let short: String = what.chars().take(60).collect();
        *self.left_out.entry(short).or_default() += 1;
    }

    /// Counts a part that may be an act of the agent.
    pub(crate) fn lose(&mut self, part: LostPart) {
        // Never among the parts of other kinds, whose number the log chooses.
        *self.left_out.entry(part.note().to_owned()).or_default() += 1;
    }

    pub(crate) fn user_said(&mut self, content: ContentText) {
        self.leave_out_blocks(&content);
        if !content.text.is_empty() {
            self.push(USER, EventKind::UserSaid { text: content.text });
        }
    }

    pub(crate) fn agent_said(&mut self, by: &str, content: ContentText) {
        self.leave_out_blocks(&content);
        if !content.text.is_empty() {
            self.push(by, EventKind::Said { text: content.text });
        }
    }

    fn leave_out_blocks(&mut self, content: &ContentText) {
        for kind in &content.skipped {
            self.leave_out(&format!("block of type {kind}"));
        }
    }

    pub(crate) fn called(&mut self, by: &str, id: Option<&str>, tool: &str, args: Value) {
        self.calls = self.calls.saturating_add(1);
        let call = self.calls;
        if let Some(id) = id {
            self.open_by_id.entry(id.to_owned()).or_default().push_back(call);
        }
        self.open_by_tool.entry(tool.to_owned()).or_default().push_back(call);
        self.callers.insert(call, (by.to_owned(), self.depth));
        self.push(by, EventKind::Called { call, tool: tool.to_owned(), args });
    }

    /// Records the answer of the call with this id; without an id, of the first open call of this tool.
    pub(crate) fn answered(&mut self, id: Option<&str>, tool: Option<&str>, answer: ToolAnswer) {
        let by_id = id.and_then(|id| self.open_by_id.get_mut(id)).and_then(VecDeque::pop_front);
        let call = by_id.or_else(|| {
            let open = self.open_by_tool.get_mut(tool.filter(|_| id.is_none())?)?;
            // Calls that were answered by their id are removed here, each once.
            while open.front().is_some_and(|call| !self.callers.contains_key(call)) {
                open.pop_front();
            }
            open.pop_front()
        });
        let Some((call, (by, depth))) = call.and_then(|call| Some((call, self.callers.remove(&call)?))) else {
            return self.leave_out("answer without a call");
        };
        let outer = std::mem::replace(&mut self.depth, depth);
        self.push(&by, EventKind::Answered { call, answer });
        self.depth = outer;
    }

    pub(crate) fn has_open_call(&self, id: &str) -> bool {
        self.open_by_id.get(id).is_some_and(|open| !open.is_empty())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Returns the recording, without anything that only some sources carry.
    pub(crate) fn finish(self, at: &LogPlace, identity: RecordingIdentity) -> LogRecording {
        let RecordingIdentity { case, subject, trial, ending } = identity;
        let number = trial.map_or_else(String::new, |trial| trial.to_string());
        let id = ContentHash::of_parts(&[&at.to_string(), "\n", &case, "\n", &subject, "\n", &number]);
        LogRecording {
            at: at.clone(),
            transcript: Transcript { trial: id, case, subject, events: self.events, ending },
            trial,
            tools: None,
            expected: vec![],
            required_texts: vec![],
            verdicts: vec![],
            attack: AttackContext::Unknown,
            scores: vec![],
            notes: self.left_out.into_iter().map(|(what, count)| format!("{count} × {what}")).collect(),
        }
    }
}

/// Names of a recording, and its ending.
#[derive(Debug)]
pub(crate) struct RecordingIdentity {
    pub case: String,
    pub subject: String,
    pub trial: Option<u64>,
    pub ending: Ending,
}
