//! Wire format of Ollama's chat API: arguments as objects, calls without ids, streams as JSON lines.

use super::api_key::ApiKey;
use super::chat::{CallArguments, ChatMessage, ContentBlock, MessageRole, ModelCall, ModelReply, StopReason, TokenUsage, ToolChoice};
use super::fault::ProviderFault;
use super::tool_names::VendorLimits;
use super::wire::{WireFormat, count, expect_object, optional_count, take_string, with_missing_fields};
use serde_json::{Map, Value, json};

#[derive(Debug, Clone, Copy)]
pub(super) struct OllamaWire;

const ACCEPTS: VendorLimits = VendorLimits { max_tools: None, max_name_len: 256 };

impl WireFormat for OllamaWire {
    fn vendor_limits(&self) -> VendorLimits {
        ACCEPTS
    }

    fn path(&self) -> &'static str {
        "api/chat"
    }

    fn headers(&self, key: Option<&ApiKey>) -> Vec<(&'static str, String)> {
        key.map(|key| ("authorization", format!("Bearer {}", key.expose()))).into_iter().collect()
    }

    fn request_id_header(&self) -> &'static str {
        "x-request-id"
    }

    fn request_body(&self, ask: &ModelCall, stream: bool) -> Value {
        let request = ask.request();
        let system = (!request.system.is_empty()).then(|| json!({ "role": "system", "content": request.system }));
        let mut named: Vec<(String, String)> = vec![];
        let spoken = request.messages.iter().flat_map(|message| encode_message(message, &mut named)).collect::<Vec<_>>();
        let messages: Vec<Value> = system.into_iter().chain(spoken).collect();
        let mut options = json!({ "num_predict": request.max_output, "seed": ask.seed() & u64::from(u32::MAX >> 1) });
        if let Some(temperature) = request.temperature {
            options["temperature"] = json!(temperature);
        }
        let mut extra = request.extra.clone();
        if let Some(Value::Object(more)) = extra.remove("options") {
            options = with_missing_fields(options, &more);
        }
        let mut body = json!({ "model": request.model, "messages": messages, "stream": stream, "options": options });
        // The API has no forced tool choice, so only the forced tool is listed.
        let shown = request.tools.iter().filter(|tool| match &request.choice {
            ToolChoice::Free => true,
            ToolChoice::Forced(name) => tool.name == *name,
        });
        let tools: Vec<Value> = shown
            .map(|tool| {
                let name = ACCEPTS.to_vendor_name(&tool.name);
                json!({ "type": "function", "function": { "name": name, "description": tool.description, "parameters": tool.input_schema } })
            })
            .collect();
        if !tools.is_empty() {
            body["tools"] = Value::Array(tools);
        }
        with_missing_fields(body, &extra)
    }

    fn streams_documents(&self) -> bool {
        true
    }

    fn assemble_stream(&self, text: &str) -> Result<Value, ProviderFault> {
        let (mut said, mut thought, mut calls) = (String::new(), String::new(), vec![]);
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let piece = match serde_json::from_str::<Value>(line) {
                Ok(piece) => piece,
                Err(error) if error.is_eof() => return Err(ProviderFault::dropped("the stream ended in the middle of a line")),
                Err(error) => return Err(ProviderFault::garbled(format!("a line: {error}"))),
            };
            let mut piece = expect_object(piece, "a line")?;
            if let Some(error) = piece.get("error").and_then(Value::as_str) {
                return Err(ProviderFault::dropped(format!("an error in the stream: {error}")));
            }
            let mut message = expect_object(piece.remove("message").unwrap_or_else(|| json!({})), "the message")?;
            said.push_str(&take_string(&mut message, "content"));
            thought.push_str(&take_string(&mut message, "thinking"));
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
        Err(ProviderFault::dropped("the stream ended before the reply was done"))
    }

    fn parse_reply(&self, mut body: Map<String, Value>) -> Result<ModelReply, ProviderFault> {
        if let Some(error) = body.get("error").and_then(Value::as_str) {
            return Err(ProviderFault::garbled(format!("an error instead of a reply: {error}")));
        }
        let blocks = parse_blocks(expect_object(body.remove("message").unwrap_or_default(), "the message")?)?;
        let calls = blocks.iter().any(|block| matches!(block, ContentBlock::Call { .. }));
        let stop = match take_string(&mut body, "done_reason").as_str() {
            "length" => StopReason::MaxTokens,
            "stop" | "" if calls => StopReason::Calls,
            "stop" | "" => StopReason::End,
            other => StopReason::Other(other.to_owned()),
        };
        let usage = parse_usage(&mut body);
        let model = take_string(&mut body, "model");
        Ok(ModelReply { blocks, stop, usage, model, request_id: None, latency_ms: 0, rest: body })
    }
}

/// Encodes a message. Tool results refer to the tool name instead of a call id, so `named` collects the calls so far.
fn encode_message(message: &ChatMessage, named: &mut Vec<(String, String)>) -> Vec<Value> {
    let (mut text, mut thought, mut calls, mut answers) = (vec![], String::new(), vec![], vec![]);
    for block in &message.blocks {
        match block {
            ContentBlock::Text { text: more, .. } | ContentBlock::Refusal { text: more } => text.push(more.as_str()),
            ContentBlock::Thinking { text, .. } => thought.push_str(text),
            ContentBlock::Call { id, tool, args, rest } => {
                named.push((id.clone(), ACCEPTS.to_vendor_name(tool)));
                calls.push(with_missing_fields(
                    json!({ "function": { "name": ACCEPTS.to_vendor_name(tool), "arguments": args.to_object() } }),
                    rest,
                ));
            }
            ContentBlock::Answer { id, text, .. } => {
                let tool = named.iter().rev().find(|(known, _)| known == id).map(|(_, tool)| tool.as_str()).unwrap_or_default();
                answers.push(json!({ "role": "tool", "tool_name": tool, "content": text }));
            }
            ContentBlock::Other { .. } => {}
        }
    }
    let text = text.join("\n\n");
    match message.by {
        MessageRole::User => answers.into_iter().chain((!text.is_empty()).then(|| json!({ "role": "user", "content": text }))).collect(),
        MessageRole::Model => {
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

fn parse_blocks(mut message: Map<String, Value>) -> Result<Vec<ContentBlock>, ProviderFault> {
    let mut blocks = vec![];
    let thinking = take_string(&mut message, "thinking");
    if !thinking.is_empty() {
        blocks.push(ContentBlock::Thinking { raw: json!({ "thinking": thinking.clone() }), text: thinking });
    }
    let text = take_string(&mut message, "content");
    if !text.is_empty() {
        blocks.push(ContentBlock::text(text));
    }
    if let Some(Value::Array(calls)) = message.remove("tool_calls") {
        for call in calls {
            let mut call = expect_object(call, "a call")?;
            let mut function = expect_object(call.remove("function").unwrap_or_default(), "a call")?;
            let args = CallArguments::parse(function.remove("arguments").unwrap_or_default());
            blocks.push(ContentBlock::Call {
                id: take_string(&mut call, "id"),
                tool: take_string(&mut function, "name"),
                args,
                rest: call,
            });
        }
    }
    message.retain(|key, value| key != "role" && !value.is_null() && !matches!(value, Value::Array(items) if items.is_empty()));
    if !message.is_empty() {
        blocks.push(ContentBlock::Other { raw: Value::Object(message) });
    }
    Ok(blocks)
}
/// Parses usage; `None` if a count is missing or unreadable. A prompt that the server has cached is not counted.
fn parse_usage(body: &mut Map<String, Value>) -> Option<TokenUsage> {
    let counts = Value::Object(["prompt_eval_count", "eval_count"].iter().filter_map(|key| body.remove_entry(*key)).collect());
    Some(TokenUsage {
        input: optional_count(&counts, "/prompt_eval_count")?,
        output: count(&counts, "/eval_count")?,
        ..TokenUsage::default()
    })
}
