//! OTLP/JSON traces: the spans of a trace become one recording.

use super::ItemError;
use super::otlp_attributes::{SpanRole, attributes, first_of, span_role, tool_name};
use super::otlp_calls::LayeredCalls;
use super::otlp_messages::{chat_messages, plain_text};
use super::otlp_pairing::SpannedCalls;
use super::otlp_span::{OtlpSpan, failure_text, is_failed, trace_span};
use crate::builder::{AGENT, RecordingIdentity, TranscriptBuilder};
use crate::content::{ContentText, list, result_value, string};
use crate::problem::LogPlace;
use crate::recording::{LogRecording, LostPart, SourceOutcome, SourceVerdict};
use model::transcript::ToolAnswer;
use model::{Ending, EventKind};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Deepest nesting of spans that is followed at once.
const MAX_DEPTH: usize = 64;

/// Returns the spans of one element of `resourceSpans`, each with its trace id.
pub(crate) fn spans_of(resource: Value) -> Vec<(String, OtlpSpan)> {
    let mut found = vec![];
    let scopes = match resource {
        Value::Object(mut members) => members.remove("scopeSpans").or_else(|| members.remove("instrumentationLibrarySpans")),
        _ => None,
    };
    let Some(Value::Array(scopes)) = scopes else { return found };
    for scope in scopes {
        let spans = if let Value::Object(mut members) = scope { members.remove("spans") } else { None };
        let Some(Value::Array(spans)) = spans else { continue };
        found.extend(spans.into_iter().filter_map(trace_span));
    }
    found
}

/// Makes a recording of the spans of a trace by the conventions alone.
pub(super) fn read_conventions(trace: &str, mut spans: Vec<OtlpSpan>, at: &LogPlace) -> Result<LogRecording, ItemError> {
    spans.sort_by_key(|span| (span.start, std::cmp::Reverse(span.end)));
    let roles: Vec<SpanRole> = spans.iter().map(|span| span_role(&span.name, &span.attributes)).collect();
    if roles.iter().all(|role| *role == SpanRole::Other) {
        return Err("no span of the trace has attributes of an agent, a model or a tool".into());
    }
    let mut walk = TraceWalk::new(&spans, &roles);
    for root in walk.roots() {
        walk.visit(root, None, 0);
    }
    walk.visit_displaced();
    let identity = identity_of(trace, &spans, &roles);
    let mut recording = walk.builder.finish(at, identity);
    recording.verdicts = spans.iter().flat_map(evaluations).collect();
    Ok(recording)
}

fn identity_of(trace: &str, spans: &[OtlpSpan], roles: &[SpanRole]) -> RecordingIdentity {
    let text = |key: &str| spans.iter().find_map(|span| span.attributes.get(key)).and_then(Value::as_str).map(str::to_owned);
    let first = |keys: &[&str]| keys.iter().find_map(|key| text(key));
    let subject = first(&["gen_ai.request.model", "gen_ai.response.model", "llm.model_name", "ai.model.id", "gen_ai.agent.name"]);
    let root = spans.iter().zip(roles).find(|(span, role)| span.parent.is_none() && **role != SpanRole::Other).map(|(span, _)| span);
    let ending = match root.filter(|root| is_failed(root)) {
        Some(root) => Ending::Crashed { why: failure_text(root) },
        None => Ending::Finished,
    };
    RecordingIdentity {
        case: first(&["test.case.name", "eval.case.id"]).unwrap_or_else(|| trace.to_owned()),
        subject: subject.unwrap_or_else(|| "unknown".to_owned()),
        trial: None,
        ending,
    }
}

/// Returns the events `gen_ai.evaluation.result` of a span.
pub(super) fn evaluations(span: &OtlpSpan) -> Vec<SourceVerdict> {
    let mut found = vec![];
    for event in list(&span.written, "events").iter().filter(|event| string(event, "name") == Some("gen_ai.evaluation.result")) {
        let fields = attributes(event);
        let Some(name) = fields.get("gen_ai.evaluation.name").and_then(Value::as_str) else { continue };
        let label = fields.get("gen_ai.evaluation.score.label").and_then(Value::as_str);
        let value = fields.get("gen_ai.evaluation.score.value").and_then(Value::as_f64);
        let outcome = match (label.map(str::to_lowercase).as_deref(), value) {
            (Some("pass" | "passed" | "correct" | "yes" | "true"), _) => SourceOutcome::Good,
            (Some("fail" | "failed" | "incorrect" | "no" | "false"), _) => SourceOutcome::Bad,
            (None, Some(value)) => SourceOutcome::of((value - 1.0).abs() <= 1e-6),
            (Some(_), _) | (None, None) => SourceOutcome::NotEvidence("the evaluation has no known label".into()),
        };
        let written = label.map_or_else(|| value.map_or_else(|| "missing".into(), |value| value.to_string()), str::to_owned);
        found.push(SourceVerdict::new(name, None, outcome, written));
    }
    found
}

/// Agent on the path from the root to a span.
#[derive(Clone)]
struct SpanAgent {
    name: String,
    depth: u32,
    span: usize,
}

/// Walk over the tree of spans, in the order of time.
struct TraceWalk<'s> {
    spans: &'s [OtlpSpan],
    roles: &'s [SpanRole],
    children: BTreeMap<&'s str, Vec<usize>>,
    visited: BTreeSet<usize>,
    /// Spans below too many others, with the agent around them.
    too_deep: VecDeque<(usize, Option<SpanAgent>)>,
    calls: LayeredCalls,
    /// Calls that have a span of their own. In messages they would count twice.
    spanned: SpannedCalls,
    /// User messages that were taken, by the span of the agent.
    users_seen: BTreeMap<Option<usize>, usize>,
    origin: u64,
    builder: TranscriptBuilder,
}

impl<'s> TraceWalk<'s> {
    fn new(spans: &'s [OtlpSpan], roles: &'s [SpanRole]) -> Self {
        let mut children: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (at, span) in spans.iter().enumerate() {
            if let Some(parent) = &span.parent {
                children.entry(parent).or_default().push(at);
            }
        }
        let mut spanned = SpannedCalls::default();
        let calls = LayeredCalls::new(spans, roles);
        let is_call = |at: usize| roles[at] == SpanRole::Tool && !calls.is_repeated(at);
        for (at, span) in spans.iter().enumerate().filter(|(at, _)| is_call(*at)) {
            if let Some(tool) = tool_name(&span.name, &span.attributes, true) {
                spanned.add(call_id(span), tool, calls.arguments(spans, at));
            }
        }
        Self {
            spans,
            roles,
            children,
            visited: BTreeSet::new(),
            too_deep: VecDeque::new(),
            calls,
            spanned,
            users_seen: BTreeMap::new(),
            origin: spans.first().map_or(0, |span| span.start),
            builder: TranscriptBuilder::default(),
        }
    }

    /// Returns the spans without a parent in the trace.
    fn roots(&self) -> Vec<usize> {
        let known: BTreeSet<&str> = self.spans.iter().map(|span| span.id.as_str()).collect();
        let is_root = |span: &OtlpSpan| span.parent.as_deref().is_none_or(|parent| !known.contains(parent));
        (0..self.spans.len()).filter(|at| is_root(&self.spans[*at])).collect()
    }

    /// Visits the spans that are below too many others or in a circle of parents. What they record stands at the wrong place, and must not
    /// disappear.
    fn visit_displaced(&mut self) {
        let mut unvisited = 0..self.spans.len();
        loop {
            let next = self.too_deep.pop_front().or_else(|| unvisited.next().map(|at| (at, None)));
            let Some((at, agent)) = next else { return };
            if !self.visited.contains(&at) {
                self.builder.lose(LostPart::Place);
                self.visit(at, agent.as_ref(), 0);
            }
        }
    }

    fn visit(&mut self, at: usize, agent: Option<&SpanAgent>, level: usize) {
        if level > MAX_DEPTH {
            return self.too_deep.push_back((at, agent.cloned()));
        }
        // Parent links come from outside and may form circles.
        if !self.visited.insert(at) {
            return;
        }
        let span = &self.spans[at];
        let is_call = self.roles[at] == SpanRole::Tool && !self.calls.is_repeated(at);
        self.set_time(span.start, agent);
        match self.roles[at] {
            SpanRole::Agent => return self.visit_agent(at, agent, level),
            SpanRole::Chat => self.add_chat(span, agent),
            SpanRole::Tool if is_call => self.add_call(at, agent),
            SpanRole::Tool | SpanRole::Other => {}
        }
        self.visit_children(at, agent, level);
        if is_call {
            self.set_time(span.end, agent);
            self.add_answer(at);
        }
    }

    fn visit_children(&mut self, at: usize, agent: Option<&SpanAgent>, level: usize) {
        for child in self.children.get(self.spans[at].id.as_str()).cloned().unwrap_or_default() {
            self.visit(child, agent, level + 1);
        }
    }

    fn visit_agent(&mut self, at: usize, outer: Option<&SpanAgent>, level: usize) {
        let span = &self.spans[at];
        let name = ["gen_ai.agent.name", "agent.name", "traceloop.entity.name"].iter().find_map(|key| span.attributes.get(*key));
        let name = name.and_then(Value::as_str).unwrap_or_else(|| span.name.strip_prefix("invoke_agent ").unwrap_or(&span.name));
        let inner = SpanAgent { name: name.to_owned(), depth: outer.map_or(0, |outer| outer.depth + 1), span: at };
        if let Some(outer) = outer {
            self.builder.push(&outer.name, EventKind::Delegated { to: inner.name.clone(), params: handed_over(span) });
        }
        self.set_time(span.start, Some(&inner));
        self.visit_children(at, Some(&inner), level);
        self.set_time(span.end, Some(&inner));
        if outer.is_some() {
            self.builder.push(&inner.name, EventKind::Returned { text: given_back(span) });
        }
    }

    fn set_time(&mut self, nanos: u64, agent: Option<&SpanAgent>) {
        self.builder.at_ms = nanos.saturating_sub(self.origin) / 1_000_000;
        self.builder.depth = agent.map_or(0, |agent| agent.depth);
    }

    /// Adds what a chat span brings: new messages of the user, answers of tools without a span, and the output.
    fn add_chat(&mut self, span: &OtlpSpan, agent: Option<&SpanAgent>) {
        let by = agent.map_or(AGENT, |agent| agent.name.as_str());
        let messages = chat_messages(&span.written, &span.attributes);
        let seen = self.users_seen.entry(agent.map(|agent| agent.span)).or_default();
        let users: Vec<&str> =
            messages.input.iter().filter(|message| message.role == "user").map(|message| message.text.as_str()).collect();
        // The input of a chat repeats the conversation.
        let fresh: Vec<String> = users.iter().skip(*seen).map(|text| (*text).to_owned()).collect();
        *seen = users.len().max(*seen);
        for answer in messages.input.iter().flat_map(|message| &message.answers) {
            let value = ToolAnswer::Result(result_value(answer.text.clone()));
            if answer.id.as_deref().is_some_and(|id| self.builder.has_open_call(id)) {
                self.builder.answered(answer.id.as_deref(), None, value);
            }
        }
        for text in fresh {
            match agent.is_some_and(|agent| agent.depth > 0) {
                true => self.builder.leave_out("message to a delegate"),
                false => self.builder.user_said(ContentText { text, skipped: vec![] }),
            }
        }
        self.set_time(span.end, agent);
        for message in messages.output {
            self.builder.agent_said(by, ContentText { text: message.text, skipped: vec![] });
            for call in self.spanned.unpaired(message.calls) {
                self.builder.called(by, call.id.as_deref(), &call.name, call.args);
            }
        }
    }

    fn add_call(&mut self, at: usize, agent: Option<&SpanAgent>) {
        let span = &self.spans[at];
        let Some(tool) = tool_name(&span.name, &span.attributes, true) else { return self.builder.lose(LostPart::Tool) };
        let by = agent.map_or(AGENT, |agent| agent.name.as_str());
        let args = self.calls.arguments(self.spans, at);
        self.builder.called(by, Some(&format!("span {}", span.id)), &tool, args);
    }

    /// Adds the answer of a call; none if its spans have neither a result nor an error.
    fn add_answer(&mut self, at: usize) {
        if let Some(answer) = self.calls.answer(self.spans, at) {
            self.builder.answered(Some(&format!("span {}", self.spans[at].id)), None, answer);
        }
    }
}

/// Returns the parameters that an agent was given: the members of an object, or a text as `input`.
fn handed_over(span: &OtlpSpan) -> Map<String, Value> {
    let message = chat_messages(&Value::Null, &span.attributes).input.into_iter().rev().find(|message| message.role == "user");
    let plain = || first_of(&span.attributes, &["input.value", "traceloop.entity.input"], &[]).map(|input| plain_text(Some(input)));
    let Some(text) = message.map(|message| message.text).or_else(plain) else { return Map::new() };
    match serde_json::from_str(&text) {
        Ok(Value::Object(params)) => params,
        Ok(_) | Err(_) => Map::from_iter([("input".to_owned(), Value::String(text))]),
    }
}

/// Returns the text that an agent gave back to the one that called it.
fn given_back(span: &OtlpSpan) -> String {
    let message = chat_messages(&Value::Null, &span.attributes).output.into_iter().next_back();
    let plain = || plain_text(first_of(&span.attributes, &["output.value", "traceloop.entity.output"], &[]));
    message.map_or_else(plain, |message| message.text)
}

fn call_id(span: &OtlpSpan) -> Option<&str> {
    ["gen_ai.tool.call.id", "ai.toolCall.id"].iter().find_map(|key| span.attributes.get(*key)).and_then(Value::as_str)
}
