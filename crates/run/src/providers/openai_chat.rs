//! Wire format of OpenAI Chat Completions and compatible servers.

use super::api_key::ApiKey;
use super::chat::{CallArguments, ChatMessage, ContentBlock, MessageRole, ModelCall, ModelReply, StopReason, TokenUsage, ToolChoice};
use super::fault::ProviderFault;
use super::tool_names::VendorLimits;
use super::wire::{WireFormat, count, expect_object, optional_count, sse_events, take_list, take_string, with_missing_fields};
use serde_json::{Map, Value, json};

/// Variants of the format, which differ in field names and tool limits.
#[derive(Debug, Clone, Copy)]
pub(super) enum OpenAiChatWire {
    OpenAi,
    Compatible,
    /// Server that is an agent: it decides itself how much it writes.
    Agent,
}

/// Fields in which servers return reasoning. Sent back under the same name together with the tool calls.
const REASONING_FIELDS: [&str; 2] = ["reasoning_content", "reasoning"];

impl WireFormat for OpenAiChatWire {
    fn vendor_limits(&self) -> VendorLimits {
        let max_tools = match self {
            OpenAiChatWire::OpenAi => Some(128),
            OpenAiChatWire::Compatible | OpenAiChatWire::Agent => None,
        };
        VendorLimits { max_tools, max_name_len: 64 }
    }

    fn path(&self) -> &'static str {
        "chat/completions"
    }

    fn headers(&self, key: Option<&ApiKey>) -> Vec<(&'static str, String)> {
        key.map(|key| ("authorization", format!("Bearer {}", key.expose()))).into_iter().collect()
    }

    fn request_id_header(&self) -> &'static str {
        "x-request-id"
    }

    fn request_body(&self, ask: &ModelCall, stream: bool) -> Value {
        let (request, accepts) = (ask.request(), self.vendor_limits());
        let system = (!request.system.is_empty()).then(|| json!({ "role": "system", "content": request.system }));
        let messages: Vec<Value> = system.into_iter().chain(request.messages.iter().flat_map(|one| encode_message(one, accepts))).collect();
        let limit = match self {
            OpenAiChatWire::OpenAi => Some("max_completion_tokens"),
            OpenAiChatWire::Compatible => Some("max_tokens"),
            OpenAiChatWire::Agent => None,
        };
        let mut body = json!({ "model": request.model, "messages": messages });
        if let Some(limit) = limit {
            body[limit] = json!(request.max_output);
        }
        if !request.tools.is_empty() {
            let tool = |tool: &model::ToolListing| {
                let name = accepts.to_vendor_name(&tool.name);
                json!({ "type": "function", "function": { "name": name, "description": tool.description, "parameters": tool.input_schema } })
            };
            body["tools"] = request.tools.iter().map(tool).collect();
            if let ToolChoice::Forced(tool) = &request.choice {
                body["tool_choice"] = json!({ "type": "function", "function": { "name": accepts.to_vendor_name(tool) } });
            }
        }
        if let Some(temperature) = request.temperature {
            body["temperature"] = json!(temperature);
        }
        if stream {
            body["stream"] = json!(true);
            body["stream_options"] = json!({ "include_usage": true });
        }
        with_missing_fields(body, &request.extra)
    }

    fn assemble_stream(&self, text: &str) -> Result<Value, ProviderFault> {
        let mut stream = ChatStreamAssembler::default();
        for data in sse_events(text) {
            if data.trim() == "[DONE]" {
                return stream.into_body();
            }
            let chunk: Value = serde_json::from_str(&data).map_err(|error| ProviderFault::garbled(format!("a chunk: {error}")))?;
            stream.push_chunk(expect_object(chunk, "a chunk")?)?;
        }
        Err(ProviderFault::dropped("the stream ended without [DONE]"))
    }

    fn parse_reply(&self, mut body: Map<String, Value>) -> Result<ModelReply, ProviderFault> {
        let first = take_list(&mut body, "choices")?.into_iter().next().ok_or_else(|| ProviderFault::garbled("the reply has no choice"))?;
        let mut choice = expect_object(first, "a choice")?;
        let message = expect_object(choice.remove("message").unwrap_or_default(), "the message")?;
        let blocks = parse_blocks(message)?;
        let refused = blocks.iter().any(|block| matches!(block, ContentBlock::Refusal { .. }));
        let calls = blocks.iter().any(|block| matches!(block, ContentBlock::Call { .. }));
        let stop = match take_string(&mut choice, "finish_reason").as_str() {
            "content_filter" => StopReason::Refused,
            "length" => StopReason::MaxTokens,
            "stop" if refused => StopReason::Refused,
            // Several servers send "stop" although there are tool calls.
            "stop" | "tool_calls" | "function_call" | "" if calls => StopReason::Calls,
            "stop" => StopReason::End,
            other => StopReason::Other(other.to_owned()),
        };
        let usage = body.remove("usage").as_ref().and_then(parse_usage);
        let model = take_string(&mut body, "model");
        choice.remove("index");
        if !choice.is_empty() {
            body.insert("choice".to_owned(), Value::Object(choice));
        }
        Ok(ModelReply { blocks, stop, usage, model, request_id: None, latency_ms: 0, rest: body })
    }
}

/// Parses usage; `None` if a count is missing or unreadable.
fn parse_usage(usage: &Value) -> Option<TokenUsage> {
    Some(TokenUsage {
        input: count(usage, "/prompt_tokens")?,
        output: count(usage, "/completion_tokens")?,
        cache_read: optional_count(usage, "/prompt_tokens_details/cached_tokens")?,
        cache_write: optional_count(usage, "/prompt_tokens_details/cache_write_tokens")?,
        reasoning: optional_count(usage, "/completion_tokens_details/reasoning_tokens")?,
    })
}

/// Encodes a message as several vendor messages: one for each tool result, then the user text.
fn encode_message(message: &ChatMessage, accepts: VendorLimits) -> Vec<Value> {
    match message.by {
        MessageRole::Model => vec![assistant_message(message, accepts)],
        MessageRole::User => {
            let answers = message.blocks.iter().filter_map(|block| match block {
                ContentBlock::Answer { id, text, .. } => Some(json!({ "role": "tool", "tool_call_id": id, "content": text })),
                ContentBlock::Text { .. }
                | ContentBlock::Thinking { .. }
                | ContentBlock::Call { .. }
                | ContentBlock::Refusal { .. }
                | ContentBlock::Other { .. } => None,
            });
            let text = joined_text(message);
            answers.chain((!text.is_empty()).then(|| json!({ "role": "user", "content": text }))).collect()
        }
    }
}

fn joined_text(message: &ChatMessage) -> String {
    let texts = message.blocks.iter().filter_map(|block| match block {
        ContentBlock::Text { text, .. } => Some(text.as_str()),
        ContentBlock::Answer { .. }
        | ContentBlock::Thinking { .. }
        | ContentBlock::Call { .. }
        | ContentBlock::Refusal { .. }
        | ContentBlock::Other { .. } => None,
    });
    texts.collect::<Vec<_>>().join("\n\n")
}

fn assistant_message(message: &ChatMessage, accepts: VendorLimits) -> Value {
    let (text, mut calls, mut thoughts) = (joined_text(message), vec![], Map::new());
    for block in &message.blocks {
        match block {
            ContentBlock::Call { id, tool, args, rest } => {
                let function = json!({ "name": accepts.to_vendor_name(tool), "arguments": args.to_text() });
                calls.push(with_missing_fields(json!({ "id": id, "type": "function", "function": function }), rest));
            }
            ContentBlock::Thinking { raw: Value::Object(raw), .. } => thoughts.extend(raw.clone()),
            ContentBlock::Text { .. }
            | ContentBlock::Thinking { .. }
            | ContentBlock::Answer { .. }
            | ContentBlock::Refusal { .. }
            | ContentBlock::Other { .. } => {}
        }
    }
    let refusal = message.blocks.iter().find_map(|block| match block {
        ContentBlock::Refusal { text } => Some(text),
        ContentBlock::Text { .. }
        | ContentBlock::Thinking { .. }
        | ContentBlock::Call { .. }
        | ContentBlock::Answer { .. }
        | ContentBlock::Other { .. } => None,
    });
    let content = if text.is_empty() { Value::Null } else { json!(text) };
    let mut said = json!({ "role": "assistant", "content": content });
    if let Some(refusal) = refusal {
        said["refusal"] = json!(refusal);
    }
    if calls.is_empty() {
        return said;
    }
    said["tool_calls"] = Value::Array(calls);
    with_missing_fields(said, &thoughts)
}

fn parse_blocks(mut message: Map<String, Value>) -> Result<Vec<ContentBlock>, ProviderFault> {
    let mut blocks = vec![];
    for field in REASONING_FIELDS {
        let text = take_string(&mut message, field);
        if !text.is_empty() {
            let raw = json!({ field: text.clone() });
            blocks.push(ContentBlock::Thinking { text, raw });
        }
    }
    match message.remove("content") {
        Some(Value::String(text)) if !text.is_empty() => blocks.push(ContentBlock::text(text)),
        Some(Value::Array(parts)) => blocks.extend(parts.into_iter().map(parse_part)),
        Some(_) | None => {}
    }
    let refusal = take_string(&mut message, "refusal");
    if !refusal.is_empty() {
        blocks.push(ContentBlock::Refusal { text: refusal });
    }
    if let Some(Value::Array(calls)) = message.remove("tool_calls") {
        for call in calls {
            blocks.push(parse_call(call)?);
        }
    }
    message.retain(|key, value| key != "role" && !value.is_null() && !matches!(value, Value::Array(items) if items.is_empty()));
    if !message.is_empty() {
        blocks.push(ContentBlock::Other { raw: Value::Object(message) });
    }
    Ok(blocks)
}

/// Parses one part of a content list, which some servers send.
fn parse_part(raw: Value) -> ContentBlock {
    match raw.get("text").and_then(Value::as_str) {
        Some(text) => ContentBlock::text(text),
        None => ContentBlock::Other { raw },
    }
}

fn parse_call(raw: Value) -> Result<ContentBlock, ProviderFault> {
    let mut call = expect_object(raw.clone(), "a call")?;
    // Calls that are not functions are kept but not answered.
    let Some(Value::Object(mut function)) = call.remove("function") else { return Ok(ContentBlock::Other { raw }) };
    let id = take_string(&mut call, "id");
    call.remove("type");
    call.remove("index");
    let args = CallArguments::parse(function.remove("arguments").unwrap_or_default());
    Ok(ContentBlock::Call { id, tool: take_string(&mut function, "name"), args, rest: call })
}

/// Assembles a completion from stream chunks.
#[derive(Default)]
struct ChatStreamAssembler {
    body: Map<String, Value>,
    message: Map<String, Value>,
    calls: Vec<Map<String, Value>>,
    finish: Value,
}

/// Maximum number of calls in one reply.
const MAX_CALLS: usize = 512;

impl ChatStreamAssembler {
    fn push_chunk(&mut self, mut chunk: Map<String, Value>) -> Result<(), ProviderFault> {
        if let Some(error) = chunk.get("error").filter(|error| !error.is_null()) {
            let said = error.get("message").and_then(Value::as_str).unwrap_or_default();
            return Err(ProviderFault::dropped(format!("an error in the stream: {said}")));
        }
        let choices = chunk.remove("choices");
        self.body.extend(chunk.into_iter().filter(|(_, value)| !value.is_null()));
        let Some(Value::Array(choices)) = choices else { return Ok(()) };
        let Some(Value::Object(mut choice)) = choices.into_iter().next() else { return Ok(()) };
        if let Some(finish @ Value::String(_)) = choice.remove("finish_reason") {
            self.finish = finish;
        }
        let Some(Value::Object(delta)) = choice.remove("delta") else { return Ok(()) };
        for (field, piece) in delta {
            match (field.as_str(), piece) {
                ("tool_calls", Value::Array(pieces)) => pieces.into_iter().try_for_each(|piece| self.push_call(piece))?,
                (_, Value::Null) => {}
                (_, piece) => append_field(&mut self.message, field, piece),
            }
        }
        Ok(())
    }

    fn push_call(&mut self, piece: Value) -> Result<(), ProviderFault> {
        let mut piece = expect_object(piece, "a piece of a call")?;
        // A piece without an index starts a new call.
        let number = piece.remove("index").and_then(|index| index.as_u64()).and_then(|index| usize::try_from(index).ok());
        let number = number.unwrap_or(self.calls.len());
        if number >= MAX_CALLS {
            return Err(ProviderFault::garbled(format!("tool call index {number} is too high")));
        }
        if self.calls.len() <= number {
            self.calls.resize_with(number + 1, Map::new);
        }
        let call = &mut self.calls[number];
        for (field, value) in piece {
            match (field.as_str(), value) {
                ("function", Value::Object(pieces)) => {
                    let whole = call.entry("function").or_insert_with(|| json!({}));
                    if let Value::Object(whole) = whole {
                        pieces.into_iter().for_each(|(field, piece)| append_field(whole, field, piece));
                    }
                }
                (_, Value::Null) => {}
                // Replace instead of append: some servers repeat ids in every chunk.
                (_, value) => drop(call.insert(field, value)),
            }
        }
        Ok(())
    }

    fn into_body(mut self) -> Result<Value, ProviderFault> {
        if self.finish.is_null() {
            return Err(ProviderFault::dropped("the stream ended without a finish reason"));
        }
        if !self.calls.is_empty() {
            self.message.insert("tool_calls".to_owned(), self.calls.into_iter().map(Value::Object).collect());
        }
        self.body.insert("choices".to_owned(), json!([{ "message": self.message, "finish_reason": self.finish }]));
        Ok(Value::Object(self.body))
    }
}

/// Appends text to text; other values replace the field.
fn append_field(whole: &mut Map<String, Value>, field: String, piece: Value) {
    match (whole.get_mut(&field), piece) {
        (Some(Value::String(text)), Value::String(more)) if field != "role" => text.push_str(&more),
        (Some(_) | None, piece) => drop(whole.insert(field, piece)),
    }
}
