//! OpenAI Responses: items instead of messages, reasoning handed back encrypted, nothing stored at the vendor.

use super::fault::{FaultKind, ProviderFault};
use super::key::Key;
use super::names::Accepts;
use super::talk::{Args, Ask, Block, By, Choice, Message, Reply, Stop, Usage};
use super::wire::{Wire, count, list, object, sse, with, word};
use serde_json::{Map, Value, json};

#[derive(Debug, Clone, Copy)]
pub(super) struct Responses;

const ACCEPTS: Accepts = Accepts { max_tools: Some(128), name_len: 64 };

impl Wire for Responses {
    fn accepts(&self) -> Accepts {
        ACCEPTS
    }

    fn path(&self) -> &'static str {
        "responses"
    }

    fn headers(&self, key: Option<&Key>) -> Vec<(&'static str, String)> {
        key.map(|key| ("authorization", format!("Bearer {}", key.reveal()))).into_iter().collect()
    }

    fn request_id(&self) -> &'static str {
        "x-request-id"
    }

    fn body(&self, ask: &Ask, stream: bool) -> Value {
        let request = ask.request();
        let mut body = json!({
            "model": request.model,
            "input": request.messages.iter().flat_map(items).collect::<Vec<_>>(),
            "max_output_tokens": request.max_output,
            // The conversation is ours: the vendor keeps nothing, and gives reasoning back in a form only it can read.
            "store": false,
            "include": ["reasoning.encrypted_content"],
        });
        if !request.system.is_empty() {
            body["instructions"] = json!(request.system);
        }
        if !request.tools.is_empty() {
            let tool = |tool: &model::Listing| {
                let name = ACCEPTS.outward(&tool.name);
                // Strict schemas would change what the model is told about optional parameters.
                json!({ "type": "function", "name": name, "description": tool.description, "parameters": tool.input_schema, "strict": false })
            };
            body["tools"] = request.tools.iter().map(tool).collect();
            if let Choice::Forced(tool) = &request.choice {
                body["tool_choice"] = json!({ "type": "function", "name": ACCEPTS.outward(tool) });
            }
        }
        if let Some(temperature) = request.temperature {
            body["temperature"] = json!(temperature);
        }
        if stream {
            body["stream"] = json!(true);
        }
        with(body, &request.extra)
    }

    fn assemble(&self, text: &str) -> Result<Value, ProviderFault> {
        for data in sse(text) {
            if data.trim() == "[DONE]" {
                break;
            }
            let event: Value = serde_json::from_str(&data).map_err(|error| ProviderFault::garbled(format!("an event: {error}")))?;
            let mut event = object(event, "an event")?;
            match word(&mut event, "type").as_str() {
                // Every ending brings the whole response, so the pieces before it are not needed.
                "response.completed" | "response.incomplete" | "response.failed" => {
                    return event.remove("response").ok_or_else(|| ProviderFault::garbled("the last event has no response"));
                }
                "error" => return Err(ProviderFault::dropped(format!("an error in the stream: {}", word(&mut event, "message")))),
                _ => {}
            }
        }
        Err(ProviderFault::dropped("the stream ended before the response did"))
    }

    fn read(&self, mut body: Map<String, Value>) -> Result<Reply, ProviderFault> {
        let status = word(&mut body, "status");
        if status == "failed" || body.get("error").is_some_and(|error| !error.is_null()) {
            return Err(failed(&body));
        }
        let mut blocks = vec![];
        for item in list(&mut body, "output")? {
            read_item(item, &mut blocks)?;
        }
        let calls = blocks.iter().any(|block| matches!(block, Block::Call { .. }));
        let refused = blocks.iter().any(|block| matches!(block, Block::Refusal { .. }));
        let reason = body.get("incomplete_details").and_then(|details| details.get("reason")).and_then(Value::as_str).unwrap_or_default();
        let stop = match (status.as_str(), reason) {
            ("incomplete", "max_output_tokens") => Stop::MaxTokens,
            ("incomplete", "content_filter") => Stop::Refused,
            ("completed", _) if refused => Stop::Refused,
            ("completed", _) if calls => Stop::Calls,
            ("completed", _) => Stop::End,
            (other, reason) => Stop::Other(format!("{other} {reason}").trim().to_owned()),
        };
        let usage = body.remove("usage").filter(Value::is_object).map(|usage| Usage {
            input: count(&usage, "/input_tokens"),
            output: count(&usage, "/output_tokens"),
            cache_read: count(&usage, "/input_tokens_details/cached_tokens"),
            cache_write: count(&usage, "/input_tokens_details/cache_write_tokens"),
            reasoning: count(&usage, "/output_tokens_details/reasoning_tokens"),
        });
        let model = word(&mut body, "model");
        // What we sent comes back with the reply; only what is new is kept.
        for ours in ["instructions", "tools", "tool_choice", "incomplete_details", "error"] {
            body.remove(ours);
        }
        Ok(Reply { blocks, stop, usage, model, request_id: None, latency_ms: 0, rest: body })
    }
}

fn failed(body: &Map<String, Value>) -> ProviderFault {
    let said = |field: &str| body.get("error").and_then(|error| error.get(field)).and_then(Value::as_str).unwrap_or_default().to_owned();
    let kind = match said("code").as_str() {
        "rate_limit_exceeded" => FaultKind::RateLimited,
        _ => FaultKind::Server,
    };
    ProviderFault::new(kind, said("message"))
}

/// One message of ours is several items of theirs.
fn items(message: &Message) -> Vec<Value> {
    let said = |kind: &str, text: &str, role: &str| json!({ "type": "message", "role": role, "content": [{ "type": kind, "text": text }] });
    let item = |block: &Block| match (block, message.by) {
        (Block::Text { text, .. }, _) if text.is_empty() => None,
        (Block::Text { text, .. }, By::User) => Some(said("input_text", text, "user")),
        (Block::Text { text, rest }, By::Model) => Some(unnamed(with(said("output_text", text, "assistant"), rest))),
        (Block::Refusal { text }, _) => {
            Some(json!({ "type": "message", "role": "assistant", "content": [{ "type": "refusal", "refusal": text }] }))
        }
        (Block::Call { id, tool, args, rest }, _) => {
            let call = json!({ "type": "function_call", "call_id": id, "name": ACCEPTS.outward(tool), "arguments": args.text() });
            Some(unnamed(with(call, rest)))
        }
        (Block::Answer { id, text, .. }, _) => Some(json!({ "type": "function_call_output", "call_id": id, "output": text })),
        (Block::Thinking { raw, .. }, _) => Some(unnamed(raw.clone())),
        (Block::Other { raw }, _) => Some(raw.clone()),
    };
    message.blocks.iter().filter_map(item).collect()
}

/// Nothing is stored at the vendor, so it must not look for an item by its id.
fn unnamed(mut item: Value) -> Value {
    if let Some(fields) = item.as_object_mut() {
        fields.remove("id");
        fields.remove("status");
    }
    item
}

fn read_item(raw: Value, blocks: &mut Vec<Block>) -> Result<(), ProviderFault> {
    let mut item = object(raw.clone(), "an item")?;
    match word(&mut item, "type").as_str() {
        "message" => {
            let parts = list(&mut item, "content")?;
            item.remove("role");
            for part in parts {
                blocks.push(read_part(part, &item));
            }
        }
        "function_call" => blocks.push(Block::Call {
            id: word(&mut item, "call_id"),
            tool: word(&mut item, "name"),
            args: Args::read(item.remove("arguments").unwrap_or_default()),
            rest: item,
        }),
        "reasoning" => {
            let pieces = item.get("summary").and_then(Value::as_array).cloned().unwrap_or_default();
            let texts: Vec<&str> = pieces.iter().filter_map(|piece| piece.get("text").and_then(Value::as_str)).collect();
            blocks.push(Block::Thinking { text: texts.join("\n"), raw });
        }
        // Tools that ran at the vendor, and whatever is invented next.
        _ => blocks.push(Block::Other { raw }),
    }
    Ok(())
}

fn read_part(part: Value, item: &Map<String, Value>) -> Block {
    let kind = part.get("type").and_then(Value::as_str).unwrap_or_default();
    let text = |field: &str| part.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
    match kind {
        "output_text" => Block::Text { text: text("text"), rest: item.clone() },
        "refusal" => Block::Refusal { text: text("refusal") },
        _ => Block::Other { raw: json!({ "type": "message", "role": "assistant", "content": [part] }) },
    }
}
