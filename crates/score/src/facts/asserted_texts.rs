//! Texts of a transcript that an assertion reads.

use super::calls::scored_calls;
use super::skill_run::skill_run;
use crate::evidence::Evidence;
use model::EventKind;
use model::suite::AssertedText;
use model::transcript::ToolAnswer;
use serde_json::Value;

/// Text with the number of its event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EventText {
    pub event: u32,
    pub text: String,
}

/// Returns the texts: the last words to the user, or one text for each call of the tool. Empty if there are none.
pub(crate) fn asserted_texts(evidence: &Evidence<'_>, on: &AssertedText) -> Vec<EventText> {
    match on {
        AssertedText::Said => last_words(evidence).into_iter().collect(),
        AssertedText::Called(tool) => calls(evidence, tool).into_iter().map(|(_, arguments)| arguments).collect(),
        AssertedText::Returned(tool) => calls(evidence, tool).into_iter().filter_map(|(call, _)| result_text(evidence, call)).collect(),
    }
}

/// Returns the report on a carried-out skill, or the last thing said, asked or refused.
fn last_words(evidence: &Evidence<'_>) -> Option<EventText> {
    if let Some((event, report)) = skill_run(evidence).and_then(|run| run.report()) {
        return Some(EventText { event: event.n, text: report.to_owned() });
    }
    let last = evidence.transcript.events.iter().rev().find_map(|event| {
        let (EventKind::Said { text } | EventKind::Asked { text } | EventKind::Refused { text }) = &event.happened else { return None };
        Some(EventText { event: event.n, text: text.clone() })
    });
    last.filter(|last| !last.text.trim().is_empty())
}

/// Returns the calls of a tool with their arguments. Refused calls were not made.
fn calls(evidence: &Evidence<'_>, name: &str) -> Vec<(u32, EventText)> {
    let wanted = evidence.workspace.tool(name).map_or(name, |tool| tool.name.as_str());
    let made = scored_calls(evidence).into_iter().filter(|call| !call.refused && call.name() == wanted);
    made.map(|call| (call.call, EventText { event: call.event, text: value_text(&call.tool_args(evidence.workspace)) })).collect()
}

/// Returns the result of a call; `None` if it failed or was not answered.
fn result_text(evidence: &Evidence<'_>, wanted: u32) -> Option<EventText> {
    evidence.transcript.events.iter().find_map(|event| {
        let EventKind::Answered { call, answer: ToolAnswer::Result(value) } = &event.happened else { return None };
        (*call == wanted).then(|| EventText { event: event.n, text: value_text(value) })
    })
}

/// Returns a value as JSON, a string as it is.
fn value_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
