//! Wire format of Anthropic Messages: cache breakpoints on tools and system, thinking blocks returned unchanged.

use super::api_key::ApiKey;
use super::chat::{CallArguments, ChatMessage, ContentBlock, MessageRole, ModelCall, ModelReply, StopReason, TokenUsage, ToolChoice};
use super::fault::{FaultKind, ProviderFault};
use super::tool_names::VendorLimits;
use super::wire::{WireFormat, count, expect_object, optional_count, sse_events, take_list, take_string, with_missing_fields};
use serde_json::{Map, Value, json};

#[derive(Debug, Clone, Copy)]
pub(super) struct AnthropicWire;

const ACCEPTS: VendorLimits = VendorLimits { max_tools: None, max_name_len: 64 };

impl WireFormat for AnthropicWire {
    fn vendor_limits(&self) -> VendorLimits {
        ACCEPTS
    }

    fn path(&self) -> &'static str {
        "v1/messages"
    }

    fn headers(&self, key: Option<&ApiKey>) -> Vec<(&'static str, String)> {
        let key = key.map(|key| ("x-api-key", key.expose().to_owned()));
        key.into_iter().chain([("anthropic-version", "2023-06-01".to_owned())]).collect()
    }

    fn request_id_header(&self) -> &'static str {
        "request-id"
    }

    fn request_body(&self, ask: &ModelCall, stream: bool) -> Value {
        let request = ask.request();
        let cached = json!({ "type": "ephemeral" });
        let mut messages: Vec<Value> = request.messages.iter().map(encode_message).collect();
        // Cache the end of a conversation, which is sent again with more messages; single requests are not.
        if let [_, .., last] = messages.as_mut_slice()
            && last["role"] == "user"
            && let Some(block) = last["content"].as_array_mut().and_then(|blocks| blocks.last_mut()).and_then(Value::as_object_mut)
        {
            block.insert("cache_control".to_owned(), cached.clone());
        }
        let mut body = json!({ "model": request.model, "max_tokens": request.max_output, "messages": messages });
        if !request.system.is_empty() {
            body["system"] = json!([{ "type": "text", "text": request.system, "cache_control": cached }]);
        }
        if !request.tools.is_empty() {
            let mut tools: Vec<Value> = request
                .tools
                .iter()
                .map(|tool| {
                    json!({ "name": ACCEPTS.to_vendor_name(&tool.name), "description": tool.description, "input_schema": tool.input_schema })
                })
                .collect();
            if let Some(last) = tools.last_mut() {
                last["cache_control"] = cached;
            }
            body["tools"] = Value::Array(tools);
            if let ToolChoice::Forced(tool) = &request.choice {
                body["tool_choice"] = json!({ "type": "tool", "name": ACCEPTS.to_vendor_name(tool), "disable_parallel_tool_use": true });
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
        let mut stream = AnthropicStreamAssembler::default();
        for data in sse_events(text) {
            let event: Value = serde_json::from_str(&data).map_err(|error| ProviderFault::garbled(format!("an event: {error}")))?;
            if let Some(message) = stream.push_event(event)? {
                return Ok(message);
            }
        }
        Err(ProviderFault::dropped("the stream ended before the message did"))
    }

    fn parse_reply(&self, mut body: Map<String, Value>) -> Result<ModelReply, ProviderFault> {
        let blocks = take_list(&mut body, "content")?.into_iter().map(parse_block).collect::<Result<_, _>>()?;
        let stop = match take_string(&mut body, "stop_reason").as_str() {
            "end_turn" | "stop_sequence" => StopReason::End,
            "tool_use" => StopReason::Calls,
            "max_tokens" | "model_context_window_exceeded" => StopReason::MaxTokens,
            "refusal" => StopReason::Refused,
            "pause_turn" => StopReason::Paused,
            other => StopReason::Other(other.to_owned()),
        };
        let usage = body.remove("usage").as_ref().and_then(parse_usage);
        let model = take_string(&mut body, "model");
        Ok(ModelReply { blocks, stop, usage, model, request_id: None, latency_ms: 0, rest: body })
    }
}

/// Parses usage; `None` if a count is missing or unreadable. Anthropic's `input_tokens` excludes cached tokens; [`TokenUsage::input`]
/// includes them.
fn parse_usage(usage: &Value) -> Option<TokenUsage> {
    let cache_read = optional_count(usage, "/cache_read_input_tokens")?;
    let cache_write = optional_count(usage, "/cache_creation_input_tokens")?;
    let input = count(usage, "/input_tokens")?.saturating_add(cache_read).saturating_add(cache_write);
    Some(TokenUsage { input, output: count(usage, "/output_tokens")?, cache_read, cache_write, reasoning: 0 })
}

fn encode_message(message: &ChatMessage) -> Value {
    let role = match message.by {
        MessageRole::User => "user",
        MessageRole::Model => "assistant",
    };
    json!({ "role": role, "content": message.blocks.iter().filter_map(encode_block).collect::<Vec<_>>() })
}

fn encode_block(block: &ContentBlock) -> Option<Value> {
    match block {
        // The API rejects empty text.
        ContentBlock::Text { text, .. } | ContentBlock::Refusal { text } if text.trim().is_empty() => None,
        ContentBlock::Text { text, rest } => Some(with_missing_fields(json!({ "type": "text", "text": text }), rest)),
        ContentBlock::Refusal { text } => Some(json!({ "type": "text", "text": text })),
        ContentBlock::Thinking { raw, .. } | ContentBlock::Other { raw } => Some(raw.clone()),
        ContentBlock::Call { id, tool, args, rest } => Some(with_missing_fields(
            json!({ "type": "tool_use", "id": id, "name": ACCEPTS.to_vendor_name(tool), "input": args.to_object() }),
            rest,
        )),
        ContentBlock::Answer { id, text, is_error } => {
            Some(json!({ "type": "tool_result", "tool_use_id": id, "content": text, "is_error": is_error }))
        }
    }
}

fn parse_block(raw: Value) -> Result<ContentBlock, ProviderFault> {
    let mut fields = expect_object(raw.clone(), "a block")?;
    Ok(match take_string(&mut fields, "type").as_str() {
        "text" => ContentBlock::Text { text: take_string(&mut fields, "text"), rest: fields },
        "tool_use" => ContentBlock::Call {
            id: take_string(&mut fields, "id"),
            tool: take_string(&mut fields, "name"),
            args: CallArguments::parse(fields.remove("input").unwrap_or_default()),
            rest: fields,
        },
        "thinking" => ContentBlock::Thinking { text: take_string(&mut fields, "thinking"), raw },
        "redacted_thinking" => ContentBlock::Thinking { text: String::new(), raw },
        // Server-side tools and unknown block types.
        _ => ContentBlock::Other { raw },
    })
}

/// Assembles a message from stream events.
#[derive(Default)]
struct AnthropicStreamAssembler {
    message: Map<String, Value>,
    blocks: Vec<Value>,
    /// Partial JSON of arguments, by block.
    partial: Vec<String>,
}

impl AnthropicStreamAssembler {
    /// Adds an event. Returns the message when it is complete.
    fn push_event(&mut self, event: Value) -> Result<Option<Value>, ProviderFault> {
        let mut event = expect_object(event, "an event")?;
        match take_string(&mut event, "type").as_str() {
            "message_start" => self.message = expect_object(event.remove("message").unwrap_or_default(), "the message")?,
            "content_block_start" => {
                self.blocks.push(event.remove("content_block").unwrap_or_default());
                self.partial.push(String::new());
            }
            "content_block_delta" => self.append_delta(&event)?,
            "message_delta" => self.merge_message_delta(event),
            "message_stop" => return Ok(Some(self.build_message())),
            "error" => return Err(stream_error(&event)),
            // Pings, block ends and unknown events.
            _ => {}
        }
        Ok(None)
    }

    fn append_delta(&mut self, event: &Map<String, Value>) -> Result<(), ProviderFault> {
        let index = event.get("index").and_then(Value::as_u64).and_then(|index| usize::try_from(index).ok());
        let index =
            index.filter(|index| *index < self.blocks.len()).ok_or_else(|| ProviderFault::garbled("a delta for an unknown block"))?;
        let delta = event.get("delta").cloned().unwrap_or_default();
        let piece = |name: &str| delta.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (field, more) = match delta.get("type").and_then(Value::as_str).unwrap_or_default() {
            "text_delta" => ("text", piece("text")),
            "thinking_delta" => ("thinking", piece("thinking")),
            "signature_delta" => ("signature", piece("signature")),
            "input_json_delta" => {
                self.partial[index].push_str(&piece("partial_json"));
                return Ok(());
            }
            _ => return Ok(()),
        };
        let block = self.blocks[index].as_object_mut().ok_or_else(|| ProviderFault::garbled("a block is not an object"))?;
        match block.get_mut(field) {
            Some(Value::String(text)) => text.push_str(&more),
            Some(_) | None => drop(block.insert(field.to_owned(), Value::String(more))),
        }
        Ok(())
    }

    fn merge_message_delta(&mut self, mut event: Map<String, Value>) {
        if let Some(Value::Object(delta)) = event.remove("delta") {
            self.message.extend(delta);
        }
        if let Some(Value::Object(more)) = event.remove("usage") {
            match self.message.get_mut("usage") {
                Some(Value::Object(usage)) => usage.extend(more),
                Some(_) | None => drop(self.message.insert("usage".to_owned(), Value::Object(more))),
            }
        }
    }

    fn build_message(&mut self) -> Value {
        for (block, partial) in self.blocks.iter_mut().zip(&self.partial).filter(|(_, partial)| !partial.is_empty()) {
            // Invalid JSON stays text and is parsed as malformed arguments.
            let input = serde_json::from_str(partial).unwrap_or_else(|_| Value::String(partial.clone()));
            if let Some(block) = block.as_object_mut() {
                block.insert("input".to_owned(), input);
            }
        }
        let mut message = std::mem::take(&mut self.message);
        message.insert("content".to_owned(), Value::Array(std::mem::take(&mut self.blocks)));
        Value::Object(message)
    }
}

/// Returns the fault of an error event. The reply has started and may be billed, so it counts as dropped.
fn stream_error(event: &Map<String, Value>) -> ProviderFault {
    let said = event.get("error").and_then(|error| error.get("message")).and_then(Value::as_str).unwrap_or_default();
    ProviderFault::new(FaultKind::Dropped, format!("an error in the stream: {said}"))
}
