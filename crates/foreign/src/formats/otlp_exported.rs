//! Traces of our own export: standard spans of agents, chats and tools, and span events for decisions, signatures and effects. Read in the
//! order of time, they make the transcript of the trial.

use super::ItemError;
use super::otlp::evaluations;
use super::otlp_attributes::{SpanRole, attributes, span_role, tool_name};
use super::otlp_messages::{chat_messages, plain_text};
use super::otlp_span::{OtlpSpan, failure_text, is_failed};
use crate::builder::{AGENT, MAX_EVENTS, USER};
use crate::content::{arguments, list, result_value, string};
use crate::problem::LogPlace;
use crate::recording::{AttackContext, LogRecording};
use model::transcript::ToolAnswer;
use model::{ContentHash, Ending, Event, EventKind, Transcript};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Attribute of the root span under which our export keeps the whole trial.
pub(crate) const TRIAL_KEY: &str = "bardo_eval.trial";
/// Version of the export, on its root span.
pub(crate) const EXPORT_KEY: &str = "bardo_eval.export";
pub(crate) const EXPORT_VERSION: u64 = 1;
pub(crate) const CASE_KEY: &str = "bardo_eval.case";
pub(crate) const SUBJECT_KEY: &str = "bardo_eval.subject";
pub(crate) const TRIAL_ID_KEY: &str = "bardo_eval.trial_id";
pub(crate) const ENDING_KEY: &str = "bardo_eval.ending";
/// Kind of a message that is not a plain one: `asked` or `refused`.
pub(crate) const MOVE_KEY: &str = "bardo_eval.move";
/// Result of a call that its text alone does not tell.
pub(crate) const RESULT_KEY: &str = "bardo_eval.result";
/// Name of span events, before the kind of the event.
pub(crate) const EVENT_PREFIX: &str = "bardo_eval.";
pub(crate) const EVENT_KEY: &str = "bardo_eval.event";
pub(crate) const BY_KEY: &str = "bardo_eval.by";
pub(crate) const DEPTH_KEY: &str = "bardo_eval.depth";

const NANOS_PER_MS: u64 = 1_000_000;
/// Deepest nesting of agents that is followed; parent links may form circles.
const MAX_DEPTH: usize = 64;

/// Reads the text of arguments as the reader of conventions does.
pub(crate) fn read_argument_text(text: &str) -> Value {
    arguments(Some(&Value::String(text.to_owned())))
}

/// Reads the text of a result as the reader of conventions does.
pub(crate) fn read_result_text(text: String) -> Value {
    result_value(text)
}

/// Returns the kind of a span event that states what only an observer can know.
pub(super) fn claimed_kind(event: &Value) -> Option<&str> {
    string(event, "name")?.strip_prefix(EVENT_PREFIX)
}

/// Returns whether the spans are an export of ours that this version reads.
pub(super) fn is_exported(spans: &[OtlpSpan]) -> bool {
    spans.iter().any(|span| span.attributes.get(EXPORT_KEY).and_then(Value::as_u64) == Some(EXPORT_VERSION))
}

/// Makes the transcript of exported spans.
pub(super) fn read_exported(spans: &[OtlpSpan], at: &LogPlace) -> Result<LogRecording, ItemError> {
    let root = spans.iter().find(|span| span.attributes.contains_key(EXPORT_KEY)).ok_or("no span is the root of an export")?;
    let text = |key: &str| root.attributes.get(key).and_then(Value::as_str).unwrap_or_default();
    let ending: Ending =
        serde_json::from_str(text(ENDING_KEY)).map_err(|error| format!("the ending of the export cannot be read: {error}"))?;
    let reader = ExportReader::new(spans);
    let mut timed: Vec<(u64, Event)> = vec![];
    for span in spans {
        reader.read(span, &mut timed)?;
        if timed.len() > MAX_EVENTS {
            return Err("the export has too many events".into());
        }
    }
    timed.sort_by_key(|(nanos, _)| *nanos);
    let begin_ms = root.start / NANOS_PER_MS;
    let numbered = (1..).zip(timed);
    let events = numbered.map(|(n, (nanos, event))| Event { n, at_ms: (nanos / NANOS_PER_MS).saturating_sub(begin_ms), ..event });
    let (case, subject) = (text(CASE_KEY).to_owned(), text(SUBJECT_KEY).to_owned());
    let trial: ContentHash = serde_json::from_value(json!(text(TRIAL_ID_KEY))).map_err(|_| "the trial of the export has no id")?;
    Ok(LogRecording {
        at: at.clone(),
        transcript: Transcript { trial, case, subject, events: events.collect(), ending },
        trial: None,
        tools: None,
        expected: vec![],
        required_texts: vec![],
        verdicts: spans.iter().flat_map(evaluations).collect(),
        attack: AttackContext::Unknown,
        scores: vec![],
        notes: vec![],
    })
}

/// Agent that a span belongs to.
struct SpanPlace {
    agent: String,
    depth: u32,
}

struct ExportReader<'s> {
    by_id: BTreeMap<&'s str, &'s OtlpSpan>,
}

impl<'s> ExportReader<'s> {
    fn new(spans: &'s [OtlpSpan]) -> Self {
        Self { by_id: spans.iter().map(|span| (span.id.as_str(), span)).collect() }
    }

    /// Returns the agent around a span, which is the span itself if it is one of an agent.
    fn place(&self, span: &'s OtlpSpan) -> SpanPlace {
        let around = std::iter::successors(Some(span), |span| self.by_id.get(span.parent.as_deref()?).copied()).take(MAX_DEPTH);
        let agents: Vec<&OtlpSpan> = around.filter(|span| span_role(&span.name, &span.attributes) == SpanRole::Agent).collect();
        let name = agents.first().and_then(|span| span.attributes.get("gen_ai.agent.name")).and_then(Value::as_str).unwrap_or(AGENT);
        SpanPlace { agent: name.to_owned(), depth: u32::try_from(agents.len().saturating_sub(1)).unwrap_or(u32::MAX) }
    }

    fn read(&self, span: &'s OtlpSpan, timed: &mut Vec<(u64, Event)>) -> Result<(), ItemError> {
        let place = self.place(span);
        let mut push = |nanos: u64, by: &str, depth: u32, happened: EventKind| {
            timed.push((nanos, Event { n: 0, at_ms: 0, by: by.to_owned(), depth, happened }));
        };
        match span_role(&span.name, &span.attributes) {
            SpanRole::Agent => {
                let outer = span.parent.as_deref().and_then(|parent| self.by_id.get(parent)).map(|parent| self.place(parent));
                if let Some(outer) = outer {
                    let params = handed_over(span);
                    push(span.start, &outer.agent, outer.depth, EventKind::Delegated { to: place.agent.clone(), params });
                }
                if span.attributes.contains_key("gen_ai.output.messages") {
                    push(span.end, &place.agent, place.depth, EventKind::Returned { text: said_in(span) });
                }
            }
            SpanRole::Chat => {
                let text = said_in(span);
                let happened = match span.attributes.get(MOVE_KEY).and_then(Value::as_str) {
                    Some("asked") => EventKind::Asked { text },
                    Some("refused") => EventKind::Refused { text },
                    Some(_) | None => EventKind::Said { text },
                };
                push(span.start, &place.agent, place.depth, happened);
            }
            SpanRole::Tool => {
                let call = call_number(span).ok_or("a call of the export has no number")?;
                let tool = tool_name(&span.name, &span.attributes, true).unwrap_or_default();
                let args = arguments(span.attributes.get("gen_ai.tool.call.arguments"));
                push(span.start, &place.agent, place.depth, EventKind::Called { call, tool, args });
                if let Some(answer) = answer_of(span) {
                    push(span.end, &place.agent, place.depth, EventKind::Answered { call, answer });
                }
            }
            SpanRole::Other => {}
        }
        for event in list(&span.written, "events") {
            timed.extend(read_event(event)?);
        }
        Ok(())
    }
}

fn call_number(span: &OtlpSpan) -> Option<u32> {
    span.attributes.get("gen_ai.tool.call.id")?.as_str()?.strip_prefix("call_")?.parse().ok()
}

fn said_in(span: &OtlpSpan) -> String {
    chat_messages(&Value::Null, &span.attributes).output.into_iter().next().map(|message| message.text).unwrap_or_default()
}

/// Returns the parameters that an agent was given.
fn handed_over(span: &OtlpSpan) -> Map<String, Value> {
    let text = chat_messages(&Value::Null, &span.attributes).input.into_iter().next().map(|message| message.text);
    text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

fn answer_of(span: &OtlpSpan) -> Option<ToolAnswer> {
    if is_failed(span) {
        return Some(ToolAnswer::Error { code: plain_text(span.attributes.get("error.type")), message: failure_text(span) });
    }
    let exact = span.attributes.get(RESULT_KEY).and_then(Value::as_str).and_then(|text| serde_json::from_str(text).ok());
    let result = || Some(result_value(plain_text(Some(span.attributes.get("gen_ai.tool.call.result")?))));
    exact.or_else(result).map(ToolAnswer::Result)
}

/// Reads a span event: words of the user, or an event of the transcript.
fn read_event(event: &Value) -> Result<Option<(u64, Event)>, ItemError> {
    let Some(name) = string(event, "name") else { return Ok(None) };
    let fields = attributes(event);
    let nanos = event.get("timeUnixNano").and_then(|time| time.as_u64().or_else(|| time.as_str()?.parse().ok())).unwrap_or(0);
    if name == "gen_ai.user.message" {
        let text = plain_text(fields.get("content"));
        return Ok(Some((nanos, Event { n: 0, at_ms: 0, by: USER.to_owned(), depth: 0, happened: EventKind::UserSaid { text } })));
    }
    let Some(kind) = name.strip_prefix(EVENT_PREFIX) else { return Ok(None) };
    let content: Value = serde_json::from_str(fields.get(EVENT_KEY).and_then(Value::as_str).unwrap_or_default())
        .map_err(|error| format!("the event {kind} of the export cannot be read: {error}"))?;
    let happened: EventKind = serde_json::from_value(json!({ kind: content }))
        .map_err(|error| format!("the event {kind} of the export cannot be read: {error}"))?;
    let by = fields.get(BY_KEY).and_then(Value::as_str).unwrap_or_default().to_owned();
    let depth = fields.get(DEPTH_KEY).and_then(Value::as_u64).and_then(|depth| u32::try_from(depth).ok()).unwrap_or(0);
    Ok(Some((nanos, Event { n: 0, at_ms: 0, by, depth, happened })))
}
