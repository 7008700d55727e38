//! OTLP/JSON traces by the GenAI conventions: one request per trial, with spans of agents, chats and tools, and span events for what has
//! no convention. The reader in `formats::otlp_exported` makes the same transcript of them.

use super::ExportedTrial;
use super::jsonl::trial_line;
use crate::formats::otlp_exported::{
    BY_KEY, CASE_KEY, DEPTH_KEY, ENDING_KEY, EVENT_KEY, EVENT_PREFIX, EXPORT_KEY, EXPORT_VERSION, MOVE_KEY, RESULT_KEY, SUBJECT_KEY,
    TRIAL_ID_KEY, TRIAL_KEY, read_argument_text, read_result_text,
};
use model::transcript::ToolAnswer;
use model::{ContentHash, Event, EventKind, Reading, Score};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

const INTERNAL: u8 = 1;
const CLIENT: u8 = 3;
const ERROR: u8 = 2;
/// Nanoseconds of a millisecond, among which the events of one millisecond are numbered.
const NANOS_PER_MS: u128 = 1_000_000;

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

fn whole(key: &str, value: u64) -> Value {
    json!({ "key": key, "value": { "intValue": value.to_string() } })
}

/// Span of an agent that has not ended.
struct OpenAgent {
    id: String,
    name: String,
    at: usize,
}

/// Span of a call.
struct CallSpan {
    at: usize,
    by: String,
    depth: u32,
    is_answered: bool,
}

struct TrialSpans<'t> {
    trial: &'t ExportedTrial<'t>,
    trace: String,
    spans: Vec<Value>,
    agents: Vec<OpenAgent>,
    calls: BTreeMap<u32, CallSpan>,
    user_messages: Vec<Value>,
}

impl<'t> TrialSpans<'t> {
    fn new(trial: &'t ExportedTrial<'t>) -> Self {
        let trace = ContentHash::of_parts(&[trial.run, "\n", trial.transcript.trial.as_str()]).as_str()[..32].to_owned();
        Self { trial, trace, spans: vec![], agents: vec![], calls: BTreeMap::new(), user_messages: vec![] }
    }

    fn build(mut self) -> Vec<Value> {
        let events = &self.trial.transcript.events;
        let root = events.iter().map(|event| event.by.as_str()).find(|by| *by != "user").unwrap_or("assistant").to_owned();
        let begin = self.nanos(0, 0);
        self.open_agent(&root, begin, None);
        for event in events {
            self.add(event);
        }
        let end = events.last().map_or_else(|| self.nanos(0, 0), |event| self.time(event));
        self.close_agents(0, &end);
        let evaluations: Vec<Value> = self.trial.scores.iter().filter_map(|score| evaluation(score, &end)).collect();
        for evaluation in evaluations {
            self.add_event(0, evaluation);
        }
        let transcript = self.trial.transcript;
        let root = &mut self.spans[0];
        if !transcript.ending.is_orderly() {
            root["status"] = json!({ "code": ERROR, "message": transcript.ending.to_string() });
        }
        let own = [
            text("bardo_eval.run", self.trial.run),
            text(CASE_KEY, &transcript.case),
            text(SUBJECT_KEY, &transcript.subject),
            text(TRIAL_ID_KEY, transcript.trial.as_str()),
            text(ENDING_KEY, &serde_json::to_string(&transcript.ending).unwrap_or_default()),
            whole(EXPORT_KEY, EXPORT_VERSION),
            text(TRIAL_KEY, &trial_line(self.trial)),
        ];
        if let Some(attributes) = root["attributes"].as_array_mut() {
            attributes.extend(own);
        }
        self.spans
    }

    /// Returns a time in which events of the same millisecond keep their order.
    fn nanos(&self, at_ms: u64, n: u32) -> Value {
        let within = u128::from(n).min(NANOS_PER_MS - 1);
        Value::String((u128::from(self.trial.started_ms.saturating_add(at_ms)) * NANOS_PER_MS + within).to_string())
    }

    fn time(&self, event: &Event) -> Value {
        self.nanos(event.at_ms, event.n)
    }

    fn push(&mut self, name: String, kind: u8, at: Value, attributes: Vec<Value>) -> String {
        let id = ContentHash::of_parts(&[&self.trace, &self.spans.len().to_string()]).as_str()[..16].to_owned();
        let mut span = json!({
            "traceId": self.trace, "spanId": id, "name": name, "kind": kind, "startTimeUnixNano": at.clone(),
            "endTimeUnixNano": at, "attributes": attributes, "status": {},
        });
        if let Some(parent) = self.agents.last() {
            span["parentSpanId"] = Value::String(parent.id.clone());
        }
        self.spans.push(span);
        id
    }

    /// Begins the span of an agent, with the parameters of its delegation.
    fn open_agent(&mut self, name: &str, at: Value, params: Option<&Map<String, Value>>) {
        let mut attributes = vec![text("gen_ai.operation.name", "invoke_agent"), text("gen_ai.agent.name", name)];
        let handed = |params: &Map<String, Value>| json!([message("user", &Value::Object(params.clone()).to_string())]).to_string();
        attributes.extend(params.map(|params| text("gen_ai.input.messages", &handed(params))));
        let place = self.spans.len();
        let id = self.push(format!("invoke_agent {name}"), INTERNAL, at, attributes);
        self.agents.push(OpenAgent { id, name: name.to_owned(), at: place });
    }

    /// Ends the agents below a depth, of which the outermost `keep` remain.
    fn close_agents(&mut self, keep: usize, at: &Value) {
        while self.agents.len() > keep {
            if let Some(agent) = self.agents.pop() {
                self.spans[agent.at]["endTimeUnixNano"] = at.clone();
            }
        }
    }

    fn add(&mut self, event: &Event) {
        let level = event.depth as usize + 1;
        if event.by != "user" && level < self.agents.len() {
            let at = self.time(event);
            self.close_agents(level, &at);
        }
        let is_innermost = self.agents.len() == level && self.agents.last().is_some_and(|agent| agent.name == event.by);
        let is_carried = match &event.happened {
            EventKind::UserSaid { text: said } if event.by == "user" && event.depth == 0 => {
                self.user_messages.push(message("user", said));
                let written =
                    json!({ "name": "gen_ai.user.message", "timeUnixNano": self.time(event), "attributes": [text("content", said)] });
                self.add_event(0, written);
                true
            }
            EventKind::Answered { call, answer } => self.add_answer(event, *call, answer),
            _ if !is_innermost => false,
            EventKind::Said { text } => self.add_chat(event, text, None),
            EventKind::Asked { text } => self.add_chat(event, text, Some("asked")),
            EventKind::Refused { text } => self.add_chat(event, text, Some("refused")),
            EventKind::Called { call, tool, args } => self.add_call(event, *call, tool, args),
            EventKind::Delegated { to, params } => {
                let at = self.time(event);
                self.open_agent(to, at, Some(params));
                true
            }
            EventKind::Returned { text } => self.add_return(event, text),
            _ => false,
        };
        if !is_carried {
            self.add_own_event(event);
        }
    }

    fn add_chat(&mut self, event: &Event, said: &str, kind: Option<&str>) -> bool {
        let model = self.trial.transcript.subject.clone();
        let mut attributes = vec![
            text("gen_ai.operation.name", "chat"),
            text("gen_ai.provider.name", "bardo-eval"),
            text("gen_ai.request.model", &model),
            text("gen_ai.input.messages", &Value::Array(self.user_messages.clone()).to_string()),
            text("gen_ai.output.messages", &json!([message("assistant", said)]).to_string()),
        ];
        attributes.extend(kind.map(|kind| text(MOVE_KEY, kind)));
        let at = self.time(event);
        self.push(format!("chat {model}"), CLIENT, at, attributes);
        true
    }

    /// Begins the span of a call; a second call with the same number has none.
    fn add_call(&mut self, event: &Event, call: u32, tool: &str, args: &Value) -> bool {
        if self.calls.contains_key(&call) {
            return false;
        }
        let raw = args.as_str().filter(|raw| read_argument_text(raw) == *args).map(str::to_owned);
        let attributes = vec![
            text("gen_ai.operation.name", "execute_tool"),
            text("gen_ai.tool.name", tool),
            text("gen_ai.tool.type", "function"),
            text("gen_ai.tool.call.id", &format!("call_{call}")),
            text("gen_ai.tool.call.arguments", &raw.unwrap_or_else(|| args.to_string())),
        ];
        self.calls.insert(call, CallSpan { at: self.spans.len(), by: event.by.clone(), depth: event.depth, is_answered: false });
        let at = self.time(event);
        self.push(format!("execute_tool {tool}"), INTERNAL, at, attributes);
        true
    }

    /// Ends the span of a call. Returns false if it has none, or was answered before.
    fn add_answer(&mut self, event: &Event, call: u32, answer: &ToolAnswer) -> bool {
        let end = self.time(event);
        let Some(open) = self.calls.get_mut(&call) else { return false };
        if open.is_answered || open.by != event.by || open.depth != event.depth {
            return false;
        }
        open.is_answered = true;
        let span = &mut self.spans[open.at];
        span["endTimeUnixNano"] = end;
        let added = match answer {
            ToolAnswer::Result(value) => {
                let written = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                let mut added = vec![text("gen_ai.tool.call.result", &written)];
                // Texts that look like other JSON, and plain numbers, would be read as something else.
                let is_plain = read_result_text(written) == *value;
                added.extend((!is_plain).then(|| text(RESULT_KEY, &value.to_string())));
                added
            }
            ToolAnswer::Error { code, message } => {
                span["status"] = json!({ "code": ERROR, "message": message });
                vec![text("error.type", code)]
            }
        };
        if let Some(attributes) = span["attributes"].as_array_mut() {
            attributes.extend(added);
        }
        true
    }

    /// Ends the innermost agent with its answer; the root never returns.
    fn add_return(&mut self, event: &Event, said: &str) -> bool {
        let Some(agent) = self.agents.last().filter(|_| self.agents.len() > 1) else { return false };
        let written = text("gen_ai.output.messages", &json!([message("assistant", said)]).to_string());
        if let Some(attributes) = self.spans[agent.at]["attributes"].as_array_mut() {
            attributes.push(written);
        }
        let (keep, at) = (self.agents.len() - 1, self.time(event));
        self.close_agents(keep, &at);
        true
    }

    /// Keeps what has no convention, such as signatures, transactions and decisions, as an event of its call or agent.
    fn add_own_event(&mut self, event: &Event) {
        let written = serde_json::to_value(&event.happened).unwrap_or_default();
        let Some((kind, content)) = written.as_object().and_then(|members| members.iter().next()) else { return };
        let call = content.get("call").or_else(|| content.get("origin")?.get("call")).and_then(Value::as_u64);
        let of_call = call.and_then(|call| self.calls.get(&u32::try_from(call).ok()?)).map(|call| call.at);
        let at = of_call.or_else(|| self.agents.last().map(|agent| agent.at)).unwrap_or(0);
        if let EventKind::Activated { skill, .. } = &event.happened
            && let Some(attributes) = self.spans[at]["attributes"].as_array_mut()
        {
            attributes.push(text("gen_ai.skill.name", skill));
        }
        let attributes = vec![text(BY_KEY, &event.by), whole(DEPTH_KEY, u64::from(event.depth)), text(EVENT_KEY, &content.to_string())];
        let written = json!({ "name": format!("{EVENT_PREFIX}{kind}"), "timeUnixNano": self.time(event), "attributes": attributes });
        self.add_event(at, written);
    }

    fn add_event(&mut self, span: usize, event: Value) {
        match self.spans[span].get_mut("events").and_then(Value::as_array_mut) {
            Some(events) => events.push(event),
            None => self.spans[span]["events"] = json!([event]),
        }
    }
}

fn evaluation(score: &Score, at: &Value) -> Option<Value> {
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
    Some(json!({ "name": "gen_ai.evaluation.result", "timeUnixNano": at, "attributes": attributes }))
}

fn message(role: &str, said: &str) -> Value {
    json!({ "role": role, "parts": [{ "type": "text", "content": said }] })
}
