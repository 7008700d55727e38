//! Wire format of OpenAI Responses: items instead of messages, encrypted reasoning, nothing stored by the vendor.

use super::api_key::ApiKey;
use super::chat::{CallArguments, ChatMessage, ContentBlock, MessageRole, ModelCall, ModelReply, StopReason, TokenUsage, ToolChoice};
use super::fault::{FaultKind, ProviderFault};
use super::tool_names::VendorLimits;
use super::wire::{WireFormat, count, expect_object, optional_count, sse_events, take_list, take_string, with_missing_fields};
use serde_json::{Map, Value, json};

#[derive(Debug, Clone, Copy)]
pub(super) struct OpenAiResponsesWire;

const ACCEPTS: VendorLimits = VendorLimits { max_tools: Some(128), max_name_len: 64 };

impl WireFormat for OpenAiResponsesWire {
    fn vendor_limits(&self) -> VendorLimits {
        ACCEPTS
    }

    fn path(&self) -> &'static str {
        "responses"
    }

    fn headers(&self, key: Option<&ApiKey>) -> Vec<(&'static str, String)> {
        key.map(|key| ("authorization", format!("Bearer {}", key.expose()))).into_iter().collect()
    }

    fn request_id_header(&self) -> &'static str {
        "x-request-id"
    }

    fn request_body(&self, ask: &ModelCall, stream: bool) -> Value {
        let request = ask.request();
        let mut body = json!({
            "model": request.model,
            "input": request.messages.iter().flat_map(encode_items).collect::<Vec<_>>(),
            "max_output_tokens": request.max_output,
            // Stateless: the vendor stores nothing and returns reasoning encrypted.
            "store": false,
            "include": ["reasoning.encrypted_content"],
        });
        if !request.system.is_empty() {
            body["instructions"] = json!(request.system);
        }
        if !request.tools.is_empty() {
            let tool = |tool: &model::ToolListing| {
                let name = ACCEPTS.to_vendor_name(&tool.name);
                // Strict mode would change how optional parameters are presented to the model.
                json!({ "type": "function", "name": name, "description": tool.description, "parameters": tool.input_schema, "strict": false })
            };
            body["tools"] = request.tools.iter().map(tool).collect();
            if let ToolChoice::Forced(tool) = &request.choice {
                body["tool_choice"] = json!({ "type": "function", "name": ACCEPTS.to_vendor_name(tool) });
            }
        }
        if let Some(temperature) = request.temperature {
            body["temperature"] = json!(temperature);
        }
        if stream {
            body["stream"] = json!(true);
        }
        with_missing_fields(body, &request.extra)
    }

    fn assemble_stream(&self, text: &str) -> Result<Value, ProviderFault> {
        for data in sse_events(text) {
            if data.trim() == "[DONE]" {
                break;
            }
            let event: Value = serde_json::from_str(&data).map_err(|error| ProviderFault::garbled(format!("an event: {error}")))?;
            let mut event = expect_object(event, "an event")?;
            match take_string(&mut event, "type").as_str() {
                // The final event has the complete response, so earlier events are not needed.
                "response.completed" | "response.incomplete" | "response.failed" => {
                    return event.remove("response").ok_or_else(|| ProviderFault::garbled("the last event has no response"));
                }
                "error" => return Err(ProviderFault::dropped(format!("an error in the stream: {}", take_string(&mut event, "message")))),
                _ => {}
            }
        }
        Err(ProviderFault::dropped("the stream ended before the response did"))
    }

    fn parse_reply(&self, mut body: Map<String, Value>) -> Result<ModelReply, ProviderFault> {
        let status = take_string(&mut body, "status");
        if status == "failed" || body.get("error").is_some_and(|error| !error.is_null()) {
            return Err(failure_fault(&body));
        }
        let mut blocks = vec![];
        for item in take_list(&mut body, "output")? {
            parse_item(item, &mut blocks)?;
        }
        let calls = blocks.iter().any(|block| matches!(block, ContentBlock::Call { .. }));
        let refused = blocks.iter().any(|block| matches!(block, ContentBlock::Refusal { .. }));
        let reason = body.get("incomplete_details").and_then(|details| details.get("reason")).and_then(Value::as_str).unwrap_or_default();
        let stop = match (status.as_str(), reason) {
            ("incomplete", "max_output_tokens") => StopReason::MaxTokens,
            ("incomplete", "content_filter") => StopReason::Refused,
            ("completed", _) if refused => StopReason::Refused,
            ("completed", _) if calls => StopReason::Calls,
            ("completed", _) => StopReason::End,
            (other, reason) => StopReason::Other(format!("{other} {reason}").trim().to_owned()),
        };
        let usage = body.remove("usage").as_ref().and_then(parse_usage);
        let model = take_string(&mut body, "model");
        // The response echoes parts of the request; drop them.
        for echoed in ["instructions", "tools", "tool_choice", "incomplete_details", "error"] {
            body.remove(echoed);
        }
        Ok(ModelReply { blocks, stop, usage, model, request_id: None, latency_ms: 0, rest: body })
    }
}

/// Parses usage; `None` if a count is missing or unreadable.
fn parse_usage(usage: &Value) -> Option<TokenUsage> {
    Some(TokenUsage {
        input: count(usage, "/input_tokens")?,
        output: count(usage, "/output_tokens")?,
        cache_read: optional_count(usage, "/input_tokens_details/cached_tokens")?,
        cache_write: optional_count(usage, "/input_tokens_details/cache_write_tokens")?,
        reasoning: optional_count(usage, "/output_tokens_details/reasoning_tokens")?,
    })
}

fn failure_fault(body: &Map<String, Value>) -> ProviderFault {
    let said = |field: &str| body.get("error").and_then(|error| error.get(field)).and_then(Value::as_str).unwrap_or_default().to_owned();
    let kind = match said("code").as_str() {
        "rate_limit_exceeded" => FaultKind::RateLimited,
        _ => FaultKind::Server,
    };
    ProviderFault::new(kind, said("message"))
}

/// Encodes a message as items.
fn encode_items(message: &ChatMessage) -> Vec<Value> {
    let said = |kind: &str, text: &str, role: &str| json!({ "type": "message", "role": role, "content": [{ "type": kind, "text": text }] });
    let item = |block: &ContentBlock| match (block, message.by) {
        (ContentBlock::Text { text, .. }, _) if text.is_empty() => None,
        (ContentBlock::Text { text, .. }, MessageRole::User) => Some(said("input_text", text, "user")),
        (ContentBlock::Text { text, rest }, MessageRole::Model) => {
            Some(without_id(with_missing_fields(said("output_text", text, "assistant"), rest)))
        }
        (ContentBlock::Refusal { text }, _) => {
            Some(json!({ "type": "message", "role": "assistant", "content": [{ "type": "refusal", "refusal": text }] }))
        }
        (ContentBlock::Call { id, tool, args, rest }, _) => {
            let call = json!({ "type": "function_call", "call_id": id, "name": ACCEPTS.to_vendor_name(tool), "arguments": args.to_text() });
            Some(without_id(with_missing_fields(call, rest)))
        }
        (ContentBlock::Answer { id, text, .. }, _) => Some(json!({ "type": "function_call_output", "call_id": id, "output": text })),
        (ContentBlock::Thinking { raw, .. }, _) => Some(without_id(raw.clone())),
        (ContentBlock::Other { raw }, _) => Some(raw.clone()),
    };
    message.blocks.iter().filter_map(item).collect()
}

/// Removes `id` and `status`; the vendor stores nothing and could not resolve the id.
fn without_id(mut item: Value) -> Value {
    if let Some(fields) = item.as_object_mut() {
        fields.remove("id");
        fields.remove("status");
    }
    item
}

fn parse_item(raw: Value, blocks: &mut Vec<ContentBlock>) -> Result<(), ProviderFault> {
    let mut item = expect_object(raw.clone(), "an item")?;
    match take_string(&mut item, "type").as_str() {
        "message" => {
            let parts = take_list(&mut item, "content")?;
            item.remove("role");
            for part in parts {
                blocks.push(parse_part(part, &item));
            }
        }
        "function_call" => blocks.push(ContentBlock::Call {
            id: take_string(&mut item, "call_id"),
            tool: take_string(&mut item, "name"),
            args: CallArguments::parse(item.remove("arguments").unwrap_or_default()),
            rest: item,
        }),
        "reasoning" => {
            let pieces = item.get("summary").and_then(Value::as_array).cloned().unwrap_or_default();
            let texts: Vec<&str> = pieces.iter().filter_map(|piece| piece.get("text").and_then(Value::as_str)).collect();
            blocks.push(ContentBlock::Thinking { text: texts.join("\n"), raw });
        }
        // Server-side tools and unknown item types.
        _ => blocks.push(ContentBlock::Other { raw }),
    }
    Ok(())
}

fn parse_part(part: Value, item: &Map<String, Value>) -> ContentBlock {
    let kind = part.get("type").and_then(Value::as_str).unwrap_or_default();
    let text = |field: &str| part.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
    match kind {
        "output_text" => ContentBlock::Text { text: text("text"), rest: item.clone() },
        "refusal" => ContentBlock::Refusal { text: text("refusal") },
        _ => ContentBlock::Other { raw: json!({ "type": "message", "role": "assistant", "content": [part] }) },
    }
}
