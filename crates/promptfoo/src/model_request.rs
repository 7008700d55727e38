//! Prompts of a config as requests to models, and their replies in promptfoo's shapes.

use crate::model_settings::{ANTHROPIC_SETTINGS, OLLAMA_OPTIONS, OLLAMA_SETTINGS, OPENAI_SETTINGS, RESPONSES_SETTINGS};
use crate::provider_answer::ProviderAnswer;
use crate::suite::{ProviderSpec, ProviderTarget};
use model::{ModelPrice, Money, OpenAiApi};
use run::providers::{CallArguments, ChatMessage, ContentBlock, MessageRole, ModelReply, ModelRequest, StopReason, ToolChoice};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Output limit of a request that sets none, as in promptfoo.
const DEFAULT_MAX_OUTPUT: u64 = 1_024;
/// Output limit of a model of Ollama that sets none.
const OLLAMA_MAX_OUTPUT: u64 = 4_096;

/// Provider with the settings of one call on top of its own.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ModelChat<'a> {
    pub spec: &'a ProviderSpec,
    /// Settings of the prompt and of the test.
    pub options: &'a Value,
}

impl ModelChat<'_> {
    fn setting(&self, name: &str) -> Option<&Value> {
        self.options.get(name).or_else(|| self.spec.config.get(name)).filter(|value| !value.is_null())
    }

    /// Returns the request for a prompt.
    ///
    /// # Errors
    /// If a message has content that cannot be sent, or a setting is not a number.
    pub(crate) fn request(&self, prompt: &str) -> Result<ModelRequest, String> {
        let (system, messages) = chat_messages(prompt)?;
        let (model, settings) = match &self.spec.target {
            ProviderTarget::OpenAi { model, api: OpenAiApi::Chat } => (model, OPENAI_SETTINGS),
            ProviderTarget::OpenAi { model, api: OpenAiApi::Responses } => (model, RESPONSES_SETTINGS),
            ProviderTarget::AnthropicMessages { model } => (model, ANTHROPIC_SETTINGS),
            ProviderTarget::OllamaChat { model } => (model, OLLAMA_SETTINGS),
            ProviderTarget::Echo
            | ProviderTarget::Exec { .. }
            | ProviderTarget::Http { .. }
            | ProviderTarget::Script { .. }
            | ProviderTarget::SimulatedUser(_) => return Err(format!("{} is not a model", self.spec.id)),
        };
        let mut extra: Map<String, Value> =
            settings.iter().filter_map(|name| Some(((*name).to_owned(), self.setting(name)?.clone()))).collect();
        let mut default_output = DEFAULT_MAX_OUTPUT;
        if matches!(self.spec.target, ProviderTarget::OllamaChat { .. }) {
            default_output = OLLAMA_MAX_OUTPUT;
            let mut options: Map<String, Value> =
                OLLAMA_OPTIONS.iter().filter_map(|name| Some(((*name).to_owned(), self.setting(name)?.clone()))).collect();
            options.extend(self.setting("options").and_then(Value::as_object).cloned().unwrap_or_default());
            if !options.is_empty() {
                extra.insert("options".to_owned(), Value::Object(options));
            }
        }
        extra.extend(self.setting("passthrough").and_then(Value::as_object).cloned().unwrap_or_default());
        let whole = |name: &str| match self.setting(name) {
            None => Ok(None),
            Some(value) => value.as_u64().map(Some).ok_or_else(|| format!("{name} is not a whole number")),
        };
        let max_output = whole("max_output_tokens")?
            .or(whole("max_completion_tokens")?)
            .or(whole("max_tokens")?)
            .or(whole("num_predict")?)
            .unwrap_or(default_output);
        let temperature = match self.setting("temperature") {
            None => None,
            Some(value) => Some(value.as_f64().ok_or("temperature is not a number")?),
        };
        Ok(ModelRequest {
            model: model.clone(),
            system,
            messages,
            tools: Arc::from([]),
            choice: ToolChoice::Free,
            temperature,
            max_output,
            extra,
        })
    }
}

/// Returns the system prompt and the messages of a prompt: a chat as JSON, or one message of the user.
fn chat_messages(prompt: &str) -> Result<(String, Vec<ChatMessage>), String> {
    let said = |by, text: &str| ChatMessage { by, blocks: vec![ContentBlock::text(text)] };
    let chat = match serde_json::from_str::<Value>(prompt) {
        Ok(Value::Array(messages)) if !messages.is_empty() && messages.iter().all(|message| message.get("role").is_some()) => messages,
        Ok(_) | Err(_) => return Ok((String::new(), vec![said(MessageRole::User, prompt)])),
    };
    let (mut system, mut messages) = (vec![], vec![]);
    for message in &chat {
        match message.get("role").and_then(Value::as_str).unwrap_or_default() {
            "system" | "developer" => system.push(content_text(message)?),
            "user" => messages.push(said(MessageRole::User, &content_text(message)?)),
            "assistant" => messages.push(ChatMessage { by: MessageRole::Model, blocks: assistant_blocks(message)? }),
            "tool" => {
                let id = message.get("tool_call_id").and_then(Value::as_str).unwrap_or_default().to_owned();
                let answer = ContentBlock::Answer { id, text: content_text(message)?, is_error: false };
                messages.push(ChatMessage { by: MessageRole::User, blocks: vec![answer] });
            }
            role => return Err(format!("a message of the prompt has the role {role:?}")),
        }
    }
    Ok((system.join("\n\n"), messages))
}

fn content_text(message: &Value) -> Result<String, String> {
    match message.get("content") {
        None | Some(Value::Null) => Ok(String::new()),
        Some(Value::String(text)) => Ok(text.clone()),
        Some(Value::Array(parts)) => {
            let texts = parts.iter().map(|part| match part.get("type").and_then(Value::as_str) {
                Some("text") => Ok(part.get("text").and_then(Value::as_str).unwrap_or_default()),
                kind => Err(format!("a message of the prompt has content of type {:?}, and only text is sent", kind.unwrap_or_default())),
            });
            Ok(texts.collect::<Result<Vec<_>, _>>()?.join("\n\n"))
        }
        Some(_) => Err("the content of a message of the prompt is not text".to_owned()),
    }
}

fn assistant_blocks(message: &Value) -> Result<Vec<ContentBlock>, String> {
    let text = content_text(message)?;
    let mut blocks: Vec<ContentBlock> = if text.is_empty() { vec![] } else { vec![ContentBlock::text(text)] };
    for call in message.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
        let part = |path: &str| call.pointer(path).cloned().unwrap_or_default();
        blocks.push(ContentBlock::Call {
            id: part("/id").as_str().unwrap_or_default().to_owned(),
            tool: part("/function/name").as_str().ok_or("a tool call of the prompt has no name")?.to_owned(),
            args: CallArguments::parse(part("/function/arguments")),
            rest: Map::new(),
        });
    }
    Ok(blocks)
}

/// Returns a reply in the shape that promptfoo gives the replies of this vendor.
pub(crate) fn answer_of(target: &ProviderTarget, reply: &ModelReply) -> ProviderAnswer {
    let output = match target {
        ProviderTarget::AnthropicMessages { .. } => anthropic_output(reply),
        ProviderTarget::OllamaChat { .. } => match calls(reply, |args| args.to_object()) {
            calls if calls.is_empty() => Value::String(said(reply)),
            calls => Value::Array(calls),
        },
        ProviderTarget::OpenAi { api: OpenAiApi::Responses, .. } => responses_output(reply),
        ProviderTarget::OpenAi { api: OpenAiApi::Chat, .. }
        | ProviderTarget::Echo
        | ProviderTarget::Exec { .. }
        | ProviderTarget::Http { .. }
        | ProviderTarget::Script { .. }
        | ProviderTarget::SimulatedUser(_) => {
            let (text, calls) = (said(reply), calls(reply, |args| args.to_text().into()));
            match (text.is_empty(), calls.is_empty()) {
                (_, true) => Value::String(text),
                (true, false) => Value::Array(calls),
                (false, false) => json!({ "role": "assistant", "content": text, "tool_calls": calls }),
            }
        }
    };
    let mut answer = ProviderAnswer { output, latency_ms: Some(reply.latency_ms), ..ProviderAnswer::default() };
    let reason = match &reply.stop {
        StopReason::End => "stop",
        StopReason::Calls => "tool_calls",
        StopReason::MaxTokens => "length",
        StopReason::Refused => "content_filter",
        StopReason::Paused => "pause_turn",
        StopReason::Other(reason) => reason,
    };
    if !reason.is_empty() {
        answer.response.insert("finishReason".to_owned(), reason.into());
    }
    let logprobs = reply.rest.get("choice").and_then(|choice| choice.pointer("/logprobs/content")).and_then(Value::as_array);
    if let Some(tokens) = logprobs {
        let values = tokens.iter().filter_map(|token| token.get("logprob").cloned()).collect();
        answer.response.insert("logProbs".to_owned(), Value::Array(values));
    }
    let usage = reply.usage.unwrap_or_default();
    answer.token_usage =
        json!({ "total": usage.input + usage.output, "prompt": usage.input, "completion": usage.output, "numRequests": 1 });
    answer
}

fn said(reply: &ModelReply) -> String {
    reply.text()
}

fn calls(reply: &ModelReply, arguments: impl Fn(&CallArguments) -> Value) -> Vec<Value> {
    let mut found = vec![];
    for block in &reply.blocks {
        if let ContentBlock::Call { id, tool, args, .. } = block {
            found.push(json!({ "id": id, "type": "function", "function": { "name": tool, "arguments": arguments(args) } }));
        }
    }
    found
}

/// Joins texts and calls of tools, as promptfoo does for the Responses API.
fn responses_output(reply: &ModelReply) -> Value {
    let mut parts = vec![];
    for block in &reply.blocks {
        match block {
            ContentBlock::Text { text, .. } => parts.push(text.clone()),
            ContentBlock::Refusal { text } => parts.push(format!("Refusal: {text}")),
            ContentBlock::Call { id, tool, args, .. } => {
                parts.push(json!({ "type": "function_call", "call_id": id, "name": tool, "arguments": args.to_text() }).to_string());
            }
            ContentBlock::Thinking { text, .. } if !text.is_empty() => parts.push(format!("Reasoning: {text}")),
            ContentBlock::Thinking { .. } | ContentBlock::Answer { .. } | ContentBlock::Other { .. } => {}
        }
    }
    Value::String(parts.join("\n"))
}

/// Joins texts and calls of tools, as promptfoo does for messages of Anthropic.
fn anthropic_output(reply: &ModelReply) -> Value {
    let mut parts = vec![];
    for block in &reply.blocks {
        match block {
            ContentBlock::Text { text, .. } | ContentBlock::Refusal { text } => parts.push(text.clone()),
            ContentBlock::Call { id, tool, args, .. } => {
                parts.push(json!({ "type": "tool_use", "id": id, "name": tool, "input": args.to_object() }).to_string());
            }
            ContentBlock::Thinking { text, .. } if !text.is_empty() => parts.push(format!("Thinking: {text}")),
            ContentBlock::Thinking { .. } | ContentBlock::Answer { .. } | ContentBlock::Other { .. } => {}
        }
    }
    Value::String(parts.join("\n\n"))
}

/// Returns the price that a config states, in US dollars per token.
///
/// # Errors
/// If it is not a number.
pub(crate) fn price_of(config: &Value) -> Result<Option<ModelPrice>, String> {
    let dollars = |name: &str| match config.get(name).filter(|value| !value.is_null()) {
        None => Ok(None),
        Some(value) => {
            let per_token = value.as_f64().filter(|per_token| (0.0..1.0).contains(per_token));
            per_token
                .map(|per_token| Some(Money::from_nanos((per_token * 1e15).round() as u64)))
                .ok_or_else(|| format!("{name} is not a price per token"))
        }
    };
    let both = dollars("cost")?;
    match (dollars("inputCost")?.or(both), dollars("outputCost")?.or(both)) {
        (Some(input_per_mtok), Some(output_per_mtok)) => Ok(Some(ModelPrice {
            input_per_mtok,
            output_per_mtok,
            cache_read_per_mtok: None,
            cache_write_per_mtok: None,
            as_of: "the config".to_owned(),
        })),
        (None, None) => Ok(None),
        (_, _) => Err("only one of inputCost and outputCost is given".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_are_per_token() {
        let price = price_of(&json!({"inputCost": 0.000002, "outputCost": 0.00001})).expect("a price").expect("a price");
        assert_eq!((price.input_per_mtok, price.output_per_mtok), (Money::from_dollars(2), Money::from_dollars(10)));
        assert_eq!(price_of(&json!({})), Ok(None));
        for wrong in [json!({"cost": "x"}), json!({"cost": -1}), json!({"cost": 3}), json!({"inputCost": 0.1})] {
            assert!(price_of(&wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn chats_keep_roles_and_calls() {
        let prompt = json!([
            {"role": "system", "content": "be brief"}, {"role": "user", "content": [{"type": "text", "text": "hi"}]},
            {"role": "assistant", "content": null, "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{\"a\":1}"}}]},
            {"role": "tool", "tool_call_id": "1", "content": "2"},
        ]);
        let (system, messages) = chat_messages(&prompt.to_string()).expect("a chat");
        assert_eq!((system.as_str(), messages.len()), ("be brief", 3));
        assert!(matches!(&messages[1].blocks[0], ContentBlock::Call { tool, .. } if tool == "f"));
        assert!(matches!(&messages[2].blocks[0], ContentBlock::Answer { text, .. } if text == "2"));
        assert_eq!(chat_messages("[1]").expect("a text").1.len(), 1);
        assert!(chat_messages(r#"[{"role": "user", "content": [{"type": "image_url"}]}]"#).is_err());
    }
}
