//! OpenAI Chat Completions, and every server that speaks like it.

use super::fault::ProviderFault;
use super::key::Key;
use super::names::Accepts;
use super::talk::{Args, Ask, Block, By, Choice, Message, Reply, Stop, Usage};
use super::wire::{Wire, count, list, object, sse, with, word};
use serde_json::{Map, Value, json};

/// Where the two differ: names of fields, and how many tools are taken.
#[derive(Debug, Clone, Copy)]
pub(super) enum Chat {
    OpenAi,
    Compatible,
}

/// Fields in which servers return thinking; handed back under the same name with the calls it led to.
const THOUGHTS: [&str; 2] = ["reasoning_content", "reasoning"];

impl Wire for Chat {
    fn accepts(&self) -> Accepts {
        let max_tools = match self {
            Chat::OpenAi => Some(128),
            Chat::Compatible => None,
        };
        Accepts { max_tools, name_len: 64 }
    }

    fn path(&self) -> &'static str {
        "chat/completions"
    }

    fn headers(&self, key: Option<&Key>) -> Vec<(&'static str, String)> {
        key.map(|key| ("authorization", format!("Bearer {}", key.reveal()))).into_iter().collect()
    }

    fn request_id(&self) -> &'static str {
        "x-request-id"
    }

    fn body(&self, ask: &Ask, stream: bool) -> Value {
        let (request, accepts) = (ask.request(), self.accepts());
        let system = (!request.system.is_empty()).then(|| json!({ "role": "system", "content": request.system }));
        let messages: Vec<Value> = system.into_iter().chain(request.messages.iter().flat_map(|one| messages(one, accepts))).collect();
        let limit = match self {
            Chat::OpenAi => "max_completion_tokens",
            Chat::Compatible => "max_tokens",
        };
        let mut body = json!({ "model": request.model, "messages": messages });
        body[limit] = json!(request.max_output);
        if !request.tools.is_empty() {
            let tool = |tool: &model::Listing| {
                let name = accepts.outward(&tool.name);
                json!({ "type": "function", "function": { "name": name, "description": tool.description, "parameters": tool.input_schema } })
            };
            body["tools"] = request.tools.iter().map(tool).collect();
            if let Choice::Forced(tool) = &request.choice {
                body["tool_choice"] = json!({ "type": "function", "function": { "name": accepts.outward(tool) } });
            }
        }
        if let Some(temperature) = request.temperature {
            body["temperature"] = json!(temperature);
        }
        if stream {
            body["stream"] = json!(true);
            body["stream_options"] = json!({ "include_usage": true });
        }
        with(body, &request.extra)
    }

    fn assemble(&self, text: &str) -> Result<Value, ProviderFault> {
        let mut stream = Stream::default();
        for data in sse(text) {
            if data.trim() == "[DONE]" {
                return stream.whole();
            }
            let chunk: Value = serde_json::from_str(&data).map_err(|error| ProviderFault::garbled(format!("a chunk: {error}")))?;
            stream.take(object(chunk, "a chunk")?)?;
        }
        Err(ProviderFault::dropped("the stream ended before it said so"))
    }

    fn read(&self, mut body: Map<String, Value>) -> Result<Reply, ProviderFault> {
        let first = list(&mut body, "choices")?.into_iter().next().ok_or_else(|| ProviderFault::garbled("the reply has no choice"))?;
        let mut choice = object(first, "a choice")?;
        let message = object(choice.remove("message").unwrap_or_default(), "the message")?;
        let blocks = blocks(message)?;
        let refused = blocks.iter().any(|block| matches!(block, Block::Refusal { .. }));
        let calls = blocks.iter().any(|block| matches!(block, Block::Call { .. }));
        let stop = match word(&mut choice, "finish_reason").as_str() {
            "content_filter" => Stop::Refused,
            "length" => Stop::MaxTokens,
            "stop" if refused => Stop::Refused,
            // Several servers say "stop" although they call.
            "stop" | "tool_calls" | "function_call" | "" if calls => Stop::Calls,
            "stop" => Stop::End,
            other => Stop::Other(other.to_owned()),
        };
        let usage = body.remove("usage").filter(Value::is_object).map(|usage| Usage {
            input: count(&usage, "/prompt_tokens"),
            output: count(&usage, "/completion_tokens"),
            cache_read: count(&usage, "/prompt_tokens_details/cached_tokens"),
            cache_write: count(&usage, "/prompt_tokens_details/cache_write_tokens"),
            reasoning: count(&usage, "/completion_tokens_details/reasoning_tokens"),
        });
        let model = word(&mut body, "model");
        choice.remove("index");
        if !choice.is_empty() {
            body.insert("choice".to_owned(), Value::Object(choice));
        }
        Ok(Reply { blocks, stop, usage, model, request_id: None, latency_ms: 0, rest: body })
    }
}

/// One message of ours is several of theirs: every answer to a call stands alone, and the words of the user come after.
fn messages(message: &Message, accepts: Accepts) -> Vec<Value> {
    match message.by {
        By::Model => vec![spoken(message, accepts)],
        By::User => {
            let answers = message.blocks.iter().filter_map(|block| match block {
                Block::Answer { id, text, .. } => Some(json!({ "role": "tool", "tool_call_id": id, "content": text })),
                Block::Text { .. } | Block::Thinking { .. } | Block::Call { .. } | Block::Refusal { .. } | Block::Other { .. } => None,
            });
            let text = texts(message);
            answers.chain((!text.is_empty()).then(|| json!({ "role": "user", "content": text }))).collect()
        }
    }
}

fn texts(message: &Message) -> String {
    let texts = message.blocks.iter().filter_map(|block| match block {
        Block::Text { text, .. } => Some(text.as_str()),
        Block::Answer { .. } | Block::Thinking { .. } | Block::Call { .. } | Block::Refusal { .. } | Block::Other { .. } => None,
    });
    texts.collect::<Vec<_>>().join("\n\n")
}

fn spoken(message: &Message, accepts: Accepts) -> Value {
    let (text, mut calls, mut thoughts) = (texts(message), vec![], Map::new());
    for block in &message.blocks {
        match block {
            Block::Call { id, tool, args, rest } => {
                let function = json!({ "name": accepts.outward(tool), "arguments": args.text() });
                calls.push(with(json!({ "id": id, "type": "function", "function": function }), rest));
            }
            Block::Thinking { raw: Value::Object(raw), .. } => thoughts.extend(raw.clone()),
            Block::Text { .. } | Block::Thinking { .. } | Block::Answer { .. } | Block::Refusal { .. } | Block::Other { .. } => {}
        }
    }
    let refusal = message.blocks.iter().find_map(|block| match block {
        Block::Refusal { text } => Some(text),
        Block::Text { .. } | Block::Thinking { .. } | Block::Call { .. } | Block::Answer { .. } | Block::Other { .. } => None,
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
    with(said, &thoughts)
}

fn blocks(mut message: Map<String, Value>) -> Result<Vec<Block>, ProviderFault> {
    let mut blocks = vec![];
    for field in THOUGHTS {
        let text = word(&mut message, field);
        if !text.is_empty() {
            let raw = json!({ field: text.clone() });
            blocks.push(Block::Thinking { text, raw });
        }
    }
    match message.remove("content") {
        Some(Value::String(text)) if !text.is_empty() => blocks.push(Block::text(text)),
        Some(Value::Array(parts)) => blocks.extend(parts.into_iter().map(part)),
        Some(_) | None => {}
    }
    let refusal = word(&mut message, "refusal");
    if !refusal.is_empty() {
        blocks.push(Block::Refusal { text: refusal });
    }
    if let Some(Value::Array(calls)) = message.remove("tool_calls") {
        for call in calls {
            blocks.push(called(call)?);
        }
    }
    message.retain(|key, value| key != "role" && !value.is_null() && !matches!(value, Value::Array(items) if items.is_empty()));
    if !message.is_empty() {
        blocks.push(Block::Other { raw: Value::Object(message) });
    }
    Ok(blocks)
}

/// Some servers send content in parts.
fn part(raw: Value) -> Block {
    match raw.get("text").and_then(Value::as_str) {
        Some(text) => Block::text(text),
        None => Block::Other { raw },
    }
}

fn called(raw: Value) -> Result<Block, ProviderFault> {
    let mut call = object(raw.clone(), "a call")?;
    // Calls of another kind than functions are kept and not ours to answer.
    let Some(Value::Object(mut function)) = call.remove("function") else { return Ok(Block::Other { raw }) };
    let id = word(&mut call, "id");
    call.remove("type");
    call.remove("index");
    let args = Args::read(function.remove("arguments").unwrap_or_default());
    Ok(Block::Call { id, tool: word(&mut function, "name"), args, rest: call })
}

/// A completion growing out of chunks.
#[derive(Default)]
struct Stream {
    body: Map<String, Value>,
    message: Map<String, Value>,
    calls: Vec<Map<String, Value>>,
    finish: Value,
}

/// More calls in one reply than any model makes; a stream that numbers them higher is refused.
const MOST_CALLS: usize = 512;

impl Stream {
    fn take(&mut self, mut chunk: Map<String, Value>) -> Result<(), ProviderFault> {
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
                ("tool_calls", Value::Array(pieces)) => pieces.into_iter().try_for_each(|piece| self.call(piece))?,
                (_, Value::Null) => {}
                (_, piece) => grow(&mut self.message, field, piece),
            }
        }
        Ok(())
    }

    fn call(&mut self, piece: Value) -> Result<(), ProviderFault> {
        let mut piece = object(piece, "a piece of a call")?;
        // Without a number it is a call of its own.
        let number = piece.remove("index").and_then(|index| index.as_u64()).and_then(|index| usize::try_from(index).ok());
        let number = number.unwrap_or(self.calls.len());
        if number >= MOST_CALLS {
            return Err(ProviderFault::garbled(format!("call number {number} in one reply")));
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
                        pieces.into_iter().for_each(|(field, piece)| grow(whole, field, piece));
                    }
                }
                (_, Value::Null) => {}
                // Ids come once; a server that repeats them means the same one.
                (_, value) => drop(call.insert(field, value)),
            }
        }
        Ok(())
    }

    fn whole(mut self) -> Result<Value, ProviderFault> {
        if self.finish.is_null() {
            return Err(ProviderFault::dropped("the stream ended without saying why the model stopped"));
        }
        if !self.calls.is_empty() {
            self.message.insert("tool_calls".to_owned(), self.calls.into_iter().map(Value::Object).collect());
        }
        self.body.insert("choices".to_owned(), json!([{ "message": self.message, "finish_reason": self.finish }]));
        Ok(Value::Object(self.body))
    }
}

/// Text is appended to text, everything else replaces.
fn grow(whole: &mut Map<String, Value>, field: String, piece: Value) {
    match (whole.get_mut(&field), piece) {
        (Some(Value::String(text)), Value::String(more)) if field != "role" => text.push_str(&more),
        (Some(_) | None, piece) => drop(whole.insert(field, piece)),
    }
}
