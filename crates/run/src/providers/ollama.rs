//! Ollama's own chat API: arguments as objects, calls without ids, streams as lines of JSON.

use super::fault::ProviderFault;
use super::key::Key;
use super::names::Accepts;
use super::talk::{Args, Ask, Block, By, Choice, Message, Reply, Stop, Usage};
use super::wire::{Wire, object, with, word};
use serde_json::{Map, Value, json};

#[derive(Debug, Clone, Copy)]
pub(super) struct Ollama;

const ACCEPTS: Accepts = Accepts { max_tools: None, name_len: 256 };

impl Wire for Ollama {
    fn accepts(&self) -> Accepts {
        ACCEPTS
    }

    fn path(&self) -> &'static str {
        "api/chat"
    }

    fn headers(&self, key: Option<&Key>) -> Vec<(&'static str, String)> {
        key.map(|key| ("authorization", format!("Bearer {}", key.reveal()))).into_iter().collect()
    }

    fn request_id(&self) -> &'static str {
        "x-request-id"
    }

    fn body(&self, ask: &Ask, stream: bool) -> Value {
        let request = ask.request();
        let system = (!request.system.is_empty()).then(|| json!({ "role": "system", "content": request.system }));
        let mut named: Vec<(String, String)> = vec![];
        let spoken = request.messages.iter().flat_map(|message| messages(message, &mut named)).collect::<Vec<_>>();
        let messages: Vec<Value> = system.into_iter().chain(spoken).collect();
        let mut options = json!({ "num_predict": request.max_output, "seed": ask.seed() & u64::from(u32::MAX >> 1) });
        if let Some(temperature) = request.temperature {
            options["temperature"] = json!(temperature);
        }
        let mut extra = request.extra.clone();
        if let Some(Value::Object(more)) = extra.remove("options") {
            options = with(options, &more);
        }
        let mut body = json!({ "model": request.model, "messages": messages, "stream": stream, "options": options });
        // It knows no forced choice: the one tool that may be called is the one it is shown.
        let shown = request.tools.iter().filter(|tool| match &request.choice {
            Choice::Free => true,
            Choice::Forced(name) => tool.name == *name,
        });
        let tools: Vec<Value> = shown
            .map(|tool| {
                let name = ACCEPTS.outward(&tool.name);
                json!({ "type": "function", "function": { "name": name, "description": tool.description, "parameters": tool.input_schema } })
            })
            .collect();
        if !tools.is_empty() {
            body["tools"] = Value::Array(tools);
        }
        with(body, &extra)
    }

    fn assemble(&self, text: &str) -> Result<Value, ProviderFault> {
        let (mut said, mut thought, mut calls) = (String::new(), String::new(), vec![]);
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let piece = match serde_json::from_str::<Value>(line) {
                Ok(piece) => piece,
                Err(error) if error.is_eof() => return Err(ProviderFault::dropped("the stream ended in the middle of a line")),
                Err(error) => return Err(ProviderFault::garbled(format!("a line: {error}"))),
            };
            let mut piece = object(piece, "a line")?;
            if let Some(error) = piece.get("error").and_then(Value::as_str) {
                return Err(ProviderFault::dropped(format!("an error in the stream: {error}")));
            }
            let mut message = object(piece.remove("message").unwrap_or_else(|| json!({})), "the message")?;
            said.push_str(&word(&mut message, "content"));
            thought.push_str(&word(&mut message, "thinking"));
            if let Some(Value::Array(more)) = message.remove("tool_calls") {
                calls.extend(more);
            }
            if piece.get("done") == Some(&Value::Bool(true)) {
                message.extend([("content".to_owned(), json!(said)), ("thinking".to_owned(), json!(thought))]);
                message.insert("tool_calls".to_owned(), Value::Array(calls));
                piece.insert("message".to_owned(), Value::Object(message));
                return Ok(Value::Object(piece));
            }
        }
        Err(ProviderFault::dropped("the stream ended before it said so"))
    }

    fn read(&self, mut body: Map<String, Value>) -> Result<Reply, ProviderFault> {
        if let Some(error) = body.get("error").and_then(Value::as_str) {
            return Err(ProviderFault::garbled(format!("an error instead of a reply: {error}")));
        }
        let blocks = blocks(object(body.remove("message").unwrap_or_default(), "the message")?)?;
        let calls = blocks.iter().any(|block| matches!(block, Block::Call { .. }));
        let stop = match word(&mut body, "done_reason").as_str() {
            "length" => Stop::MaxTokens,
            "stop" | "" if calls => Stop::Calls,
            "stop" | "" => Stop::End,
            other => Stop::Other(other.to_owned()),
        };
        let mut number = |key: &str| body.remove(key).and_then(|value| value.as_u64());
        let usage = match (number("prompt_eval_count"), number("eval_count")) {
            (None, None) => None,
            (input, output) => Some(Usage { input: input.unwrap_or_default(), output: output.unwrap_or_default(), ..Usage::default() }),
        };
        let model = word(&mut body, "model");
        Ok(Reply { blocks, stop, usage, model, request_id: None, latency_ms: 0, rest: body })
    }
}

/// Answers name the tool instead of an id, so the calls seen so far are remembered.
fn messages(message: &Message, named: &mut Vec<(String, String)>) -> Vec<Value> {
    let (mut text, mut thought, mut calls, mut answers) = (vec![], String::new(), vec![], vec![]);
    for block in &message.blocks {
        match block {
            Block::Text { text: more, .. } | Block::Refusal { text: more } => text.push(more.as_str()),
            Block::Thinking { text, .. } => thought.push_str(text),
            Block::Call { id, tool, args, rest } => {
                named.push((id.clone(), ACCEPTS.outward(tool)));
                calls.push(with(json!({ "function": { "name": ACCEPTS.outward(tool), "arguments": args.object() } }), rest));
            }
            Block::Answer { id, text, .. } => {
                let tool = named.iter().rev().find(|(known, _)| known == id).map(|(_, tool)| tool.as_str()).unwrap_or_default();
                answers.push(json!({ "role": "tool", "tool_name": tool, "content": text }));
            }
            Block::Other { .. } => {}
        }
    }
    let text = text.join("\n\n");
    match message.by {
        By::User => answers.into_iter().chain((!text.is_empty()).then(|| json!({ "role": "user", "content": text }))).collect(),
        By::Model => {
            let mut said = json!({ "role": "assistant", "content": text });
            if !thought.is_empty() {
                said["thinking"] = json!(thought);
            }
            if !calls.is_empty() {
                said["tool_calls"] = Value::Array(calls);
            }
            vec![said]
        }
    }
}

fn blocks(mut message: Map<String, Value>) -> Result<Vec<Block>, ProviderFault> {
    let mut blocks = vec![];
    let thinking = word(&mut message, "thinking");
    if !thinking.is_empty() {
        blocks.push(Block::Thinking { raw: json!({ "thinking": thinking.clone() }), text: thinking });
    }
    let text = word(&mut message, "content");
    if !text.is_empty() {
        blocks.push(Block::text(text));
    }
    if let Some(Value::Array(calls)) = message.remove("tool_calls") {
        for call in calls {
            let mut call = object(call, "a call")?;
            let mut function = object(call.remove("function").unwrap_or_default(), "a call")?;
            let args = Args::read(function.remove("arguments").unwrap_or_default());
            blocks.push(Block::Call { id: word(&mut call, "id"), tool: word(&mut function, "name"), args, rest: call });
        }
    }
    message.retain(|key, value| key != "role" && !value.is_null() && !matches!(value, Value::Array(items) if items.is_empty()));
    if !message.is_empty() {
        blocks.push(Block::Other { raw: Value::Object(message) });
    }
    Ok(blocks)
}
