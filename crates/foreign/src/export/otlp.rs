//! OTLP/JSON traces by the GenAI conventions: one request per trial, with spans of agents, chats and tools.

use super::ExportedTrial;
use super::jsonl::trial_line;
use crate::formats::otlp::TRIAL_KEY;
use model::transcript::ToolAnswer;
use model::{ContentHash, Event, EventKind, Reading, Score};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const INTERNAL: u8 = 1;
const CLIENT: u8 = 3;
const ERROR: u8 = 2;

/// Returns the request of a trial as one line, without a line break.
pub fn trial_request(trial: &ExportedTrial<'_>) -> String {
    let spans = TrialSpans::new(trial).build();
    let resource = json!({ "attributes": [text("service.name", "bardo-eval"), text("service.version", env!("CARGO_PKG_VERSION"))] });
    let scope = json!({ "name": "bardo-eval", "version": env!("CARGO_PKG_VERSION") });
    json!({ "resourceSpans": [{ "resource": resource, "scopeSpans": [{ "scope": scope, "spans": spans }] }] }).to_string()
}

fn text(key: &str, value: &str) -> Value {
    json!({ "key": key, "value": { "stringValue": value } })
}

/// Span of an agent that has not ended.
struct OpenAgent {
    id: String,
    name: String,
    at: usize,
}

struct TrialSpans<'t> {
    trial: &'t ExportedTrial<'t>,
    trace: String,
    spans: Vec<Value>,
    agents: Vec<OpenAgent>,
    /// Position of the span of each call without an answer.
    calls: BTreeMap<u32, usize>,
    user_messages: Vec<Value>,
    root_events: Vec<Value>,
}

impl<'t> TrialSpans<'t> {
    fn new(trial: &'t ExportedTrial<'t>) -> Self {
        let trace = ContentHash::of_parts(&[trial.run, "\n", trial.transcript.trial.as_str()]).as_str()[..32].to_owned();
        Self { trial, trace, spans: vec![], agents: vec![], calls: BTreeMap::new(), user_messages: vec![], root_events: vec![] }
    }

    fn build(mut self) -> Vec<Value> {
        let events = &self.trial.transcript.events;
        let root = events.iter().map(|event| event.by.as_str()).find(|by| *by != "user").unwrap_or("assistant").to_owned();
        self.open_agent(&root, 0);
        for event in events {
            self.add(event);
        }
        let end = events.last().map_or(0, |event| event.at_ms);
        while let Some(agent) = self.agents.pop() {
            self.spans[agent.at]["endTimeUnixNano"] = self.nanos(end);
        }
        let evaluations: Vec<Value> = self.trial.scores.iter().filter_map(|score| self.evaluation(score, end)).collect();
        self.root_events.extend(evaluations);
        let root = &mut self.spans[0];
        root["events"] = Value::Array(self.root_events);
        if !self.trial.transcript.ending.is_orderly() {
            root["status"] = json!({ "code": ERROR, "message": self.trial.transcript.ending.to_string() });
        }
        let own = [
            text("bardo_eval.run", self.trial.run),
            text("bardo_eval.case", &self.trial.transcript.case),
            text("bardo_eval.ending", &self.trial.transcript.ending.to_string()),
            text(TRIAL_KEY, &trial_line(self.trial)),
        ];
        if let Some(attributes) = root["attributes"].as_array_mut() {
            attributes.extend(own);
        }
        self.spans
    }

    fn nanos(&self, at_ms: u64) -> Value {
        Value::String((u128::from(self.trial.started_ms.saturating_add(at_ms)) * 1_000_000).to_string())
    }

    fn span_id(&self) -> String {
        ContentHash::of_parts(&[&self.trace, &self.spans.len().to_string()]).as_str()[..16].to_owned()
    }

    fn push(&mut self, name: String, kind: u8, at_ms: u64, attributes: Vec<Value>) -> String {
        let id = self.span_id();
        let mut span = json!({
            "traceId": self.trace, "spanId": id, "name": name, "kind": kind, "startTimeUnixNano": self.nanos(at_ms),
            "endTimeUnixNano": self.nanos(at_ms), "attributes": attributes, "status": {},
        });
        if let Some(parent) = self.agents.last() {
            span["parentSpanId"] = Value::String(parent.id.clone());
        }
        self.spans.push(span);
        id
    }

    fn open_agent(&mut self, name: &str, at_ms: u64) {
        let at = self.spans.len();
        let attributes = vec![text("gen_ai.operation.name", "invoke_agent"), text("gen_ai.agent.name", name)];
        let id = self.push(format!("invoke_agent {name}"), INTERNAL, at_ms, attributes);
        self.agents.push(OpenAgent { id, name: name.to_owned(), at });
    }

    fn add(&mut self, event: &Event) {
        match &event.happened {
            EventKind::UserSaid { text } => self.user_messages.push(message("user", text)),
            EventKind::Said { text } | EventKind::Asked { text } | EventKind::Refused { text } => self.add_chat(event, text),
            EventKind::Called { call, tool, args } => self.add_call(event, *call, tool, args),
            EventKind::Answered { call, answer } => self.add_answer(event, *call, answer),
            EventKind::Delegated { to, .. } => self.open_agent(to, event.at_ms),
            EventKind::Returned { .. } => self.close_agent(event),
            _ => {}
        }
        self.add_own_event(event);
    }

    fn add_chat(&mut self, event: &Event, said: &str) {
        let model = self.trial.transcript.subject.clone();
        let attributes = vec![
            text("gen_ai.operation.name", "chat"),
            text("gen_ai.provider.name", "bardo-eval"),
            text("gen_ai.request.model", &model),
            text("gen_ai.input.messages", &Value::Array(self.user_messages.clone()).to_string()),
            text("gen_ai.output.messages", &json!([message("assistant", said)]).to_string()),
        ];
        self.push(format!("chat {model}"), CLIENT, event.at_ms, attributes);
    }

    fn add_call(&mut self, event: &Event, call: u32, tool: &str, args: &Value) {
        let attributes = vec![
            text("gen_ai.operation.name", "execute_tool"),
            text("gen_ai.tool.name", tool),
            text("gen_ai.tool.type", "function"),
            text("gen_ai.tool.call.id", &format!("call_{call}")),
            text("gen_ai.tool.call.arguments", &args.as_str().map_or_else(|| args.to_string(), str::to_owned)),
        ];
        self.calls.insert(call, self.spans.len());
        self.push(format!("execute_tool {tool}"), INTERNAL, event.at_ms, attributes);
    }

    fn add_answer(&mut self, event: &Event, call: u32, answer: &ToolAnswer) {
        let Some(at) = self.calls.remove(&call) else { return };
        let end = self.nanos(event.at_ms);
        let span = &mut self.spans[at];
        span["endTimeUnixNano"] = end;
        let added = match answer {
            ToolAnswer::Result(value) => text("gen_ai.tool.call.result", &value.as_str().map_or_else(|| value.to_string(), str::to_owned)),
            ToolAnswer::Error { code, message } => {
                span["status"] = json!({ "code": ERROR, "message": message });
                text("error.type", code)
            }
        };
        if let Some(attributes) = span["attributes"].as_array_mut() {
            attributes.push(added);
        }
    }

    /// Ends the innermost agent that returned; the root never does.
    fn close_agent(&mut self, event: &Event) {
        let returned = self.agents.iter().rposition(|agent| agent.name == event.by).filter(|at| *at > 0);
        while self.agents.len() > returned.unwrap_or(usize::MAX) {
            if let Some(agent) = self.agents.pop() {
                self.spans[agent.at]["endTimeUnixNano"] = self.nanos(event.at_ms);
            }
        }
    }

    /// Keeps what has no convention, such as signatures and transactions, as an event of the root.
    fn add_own_event(&mut self, event: &Event) {
        let written = serde_json::to_value(&event.happened).unwrap_or_default();
        let Some((kind, content)) = written.as_object().and_then(|members| members.iter().next()) else { return };
        if matches!(kind.as_str(), "user_said" | "said" | "asked" | "called" | "answered" | "delegated" | "returned") {
            return;
        }
        let attributes = vec![text("bardo_eval.by", &event.by), text("bardo_eval.event", &content.to_string())];
        self.root_events
            .push(json!({ "name": format!("bardo_eval.{kind}"), "timeUnixNano": self.nanos(event.at_ms), "attributes": attributes }));
    }

    fn evaluation(&self, score: &Score, at_ms: u64) -> Option<Value> {
        let (value, label) = match &score.reading {
            Reading::Tally { of: 0, .. } | Reading::Unscorable { .. } => return None,
            Reading::Tally { hit, of } => (*hit as f64 / *of as f64, Some(if hit == of { "pass" } else { "fail" })),
            Reading::Level(level) => (*level, None),
        };
        let mut attributes = vec![
            text("gen_ai.evaluation.name", &score.scorer.to_string()),
            json!({ "key": "gen_ai.evaluation.score.value", "value": { "doubleValue": value } }),
            text("gen_ai.evaluation.explanation", &score.reasons()),
        ];
        attributes.extend(label.map(|label| text("gen_ai.evaluation.score.label", label)));
        Some(json!({ "name": "gen_ai.evaluation.result", "timeUnixNano": self.nanos(at_ms), "attributes": attributes }))
    }
}

fn message(role: &str, said: &str) -> Value {
    json!({ "role": role, "parts": [{ "type": "text", "content": said }] })
}
