//! Messages of a chat span: attributes or events of the GenAI conventions, or the numbered attributes of other families.

use super::otlp_attributes::attributes;
use crate::content::{arguments, content_text, list, string};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Message of a chat span.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct SpanMessage {
    pub role: String,
    pub text: String,
    pub calls: Vec<SpanCall>,
    pub answers: Vec<SpanAnswer>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct SpanCall {
    pub id: Option<String>,
    pub name: String,
    pub args: Value,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct SpanAnswer {
    pub id: Option<String>,
    pub text: String,
}

/// Messages that a chat span was given and returned.
#[derive(Debug, Default, PartialEq)]
pub(super) struct ChatMessages {
    pub input: Vec<SpanMessage>,
    pub output: Vec<SpanMessage>,
}

pub(super) fn chat_messages(span: &Value, attributes: &Map<String, Value>) -> ChatMessages {
    let mut found = ChatMessages {
        input: listed(attributes, &["gen_ai.input.messages", "ai.prompt.messages"]),
        output: listed(attributes, &["gen_ai.output.messages"]),
    };
    if found.input.is_empty() {
        found.input = numbered(attributes, &["gen_ai.prompt.", "llm.input_messages."]);
    }
    if found.output.is_empty() {
        found.output = numbered(attributes, &["gen_ai.completion.", "llm.output_messages."]);
    }
    if found.output.is_empty()
        && let Some(text) = attributes.get("ai.response.text").and_then(Value::as_str)
    {
        found.output.push(SpanMessage { role: "assistant".into(), text: text.to_owned(), ..SpanMessage::default() });
    }
    add_events(span, &mut found);
    found
}

/// Reads a list of messages, which most SDKs write as a text.
fn listed(attributes: &Map<String, Value>, keys: &[&str]) -> Vec<SpanMessage> {
    let Some(value) = keys.iter().find_map(|key| attributes.get(*key)) else { return vec![] };
    let parsed = value.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
    let list = parsed.as_ref().unwrap_or(value).as_array().map_or(&[][..], Vec::as_slice);
    list.iter().map(read_message).collect()
}

/// Reads a message of `parts`, or one in the shape of a chat.
fn read_message(message: &Value) -> SpanMessage {
    let role = string(message, "role").unwrap_or("assistant").to_owned();
    let mut read = SpanMessage { role, ..SpanMessage::default() };
    for part in list(message, "parts") {
        match string(part, "type") {
            Some("tool_call") => read.calls.extend(read_call(part)),
            Some("tool_call_response") => {
                let result = part.get("response").or_else(|| part.get("result"));
                read.answers.push(SpanAnswer { id: string(part, "id").map(str::to_owned), text: plain_text(result) });
            }
            Some(_) | None => add_text(&mut read.text, &content_text(Some(part)).text),
        }
    }
    let content = content_text(message.get("content")).text;
    if read.role == "tool" && message.get("parts").is_none() {
        let id = string(message, "tool_call_id").or_else(|| string(message, "id")).map(str::to_owned);
        read.answers.push(SpanAnswer { id, text: content });
    } else {
        add_text(&mut read.text, &content);
    }
    read.calls.extend(list(message, "tool_calls").iter().filter_map(read_call));
    read
}

fn read_call(call: &Value) -> Option<SpanCall> {
    let function = call.get("function").filter(|function| function.is_object()).unwrap_or(call);
    let name = string(function, "name")?.to_owned();
    Some(SpanCall { id: string(call, "id").map(str::to_owned), name, args: arguments(function.get("arguments")) })
}

fn add_text(into: &mut String, text: &str) {
    if !into.is_empty() && !text.is_empty() {
        into.push('\n');
    }
    into.push_str(text);
}

pub(super) fn plain_text(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

/// Reads attributes such as `gen_ai.prompt.0.content` and `llm.input_messages.0.message.tool_calls.1.tool_call.function.name`.
fn numbered(attributes: &Map<String, Value>, prefixes: &[&str]) -> Vec<SpanMessage> {
    let mut messages: BTreeMap<u32, SpanMessage> = BTreeMap::new();
    let mut calls: BTreeMap<(u32, u32), SpanCall> = BTreeMap::new();
    let mut answered: BTreeMap<u32, String> = BTreeMap::new();
    for (key, value) in attributes {
        let Some(rest) = prefixes.iter().find_map(|prefix| key.strip_prefix(prefix)) else { continue };
        let Some((n, field)) = rest.split_once('.').and_then(|(n, field)| Some((n.parse().ok()?, field))) else { continue };
        let field = field.strip_prefix("message.").unwrap_or(field);
        let message = messages.entry(n).or_default();
        match field {
            "role" => message.role = plain_text(Some(value)),
            "content" => message.text = plain_text(Some(value)),
            "tool_call_id" => drop(answered.insert(n, plain_text(Some(value)))),
            _ => {
                let Some((m, field)) = field.strip_prefix("tool_calls.").and_then(|rest| rest.split_once('.')) else { continue };
                let Ok(m) = m.parse() else { continue };
                let call = calls.entry((n, m)).or_insert_with(|| SpanCall { id: None, name: String::new(), args: arguments(None) });
                match field.rsplit('.').next() {
                    Some("name") => call.name = plain_text(Some(value)),
                    Some("arguments") => call.args = arguments(Some(value)),
                    Some("id") => call.id = Some(plain_text(Some(value))),
                    Some(_) | None => {}
                }
            }
        }
    }
    for ((n, _), call) in calls.into_iter().filter(|(_, call)| !call.name.is_empty()) {
        messages.entry(n).or_default().calls.push(call);
    }
    for (n, message) in &mut messages {
        if message.role == "tool" {
            message.answers.push(SpanAnswer { id: answered.get(n).cloned(), text: std::mem::take(&mut message.text) });
        }
    }
    messages.into_values().collect()
}

/// Reads the older events `gen_ai.user.message`, `gen_ai.assistant.message`, `gen_ai.tool.message` and `gen_ai.choice`.
fn add_events(span: &Value, found: &mut ChatMessages) {
    for event in list(span, "events") {
        let fields = attributes(event);
        let field = |key: &str| fields.get(key).cloned().unwrap_or(Value::Null);
        let parsed = |key: &str| field(key).as_str().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_else(|| field(key));
        let named = |role: &str| {
            serde_json::json!({
                "role": role, "content": field("content"), "tool_calls": parsed("tool_calls"), "id": field("id"), "tool_call_id": field("id"),
            })
        };
        match string(event, "name") {
            Some("gen_ai.user.message") => found.input.push(read_message(&named("user"))),
            Some("gen_ai.assistant.message") => found.input.push(read_message(&named("assistant"))),
            Some("gen_ai.tool.message") => found.input.push(read_message(&named("tool"))),
            Some("gen_ai.choice") => match parsed("message") {
                message @ Value::Object(_) => found.output.push(read_message(&message)),
                Value::String(text) => found.output.push(SpanMessage { role: "assistant".into(), text, ..SpanMessage::default() }),
                _ => found.output.push(read_message(&named("assistant"))),
            },
            Some(_) | None => {}
        }
    }
}
