//! Vendor-neutral requests and replies; each wire format converts from and to them.

use super::fault::ProviderFault;
use crate::ledger::CallId;
use model::{ContentHash, ToolListing};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Request to a model, with its id in the run.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelCall {
    pub call: CallId,
    seed: u64,
    request: ModelRequest,
    key: ContentHash,
}

impl ModelCall {
    /// Creates a call. The trial's seed is part of the key and determines the retry jitter.
    pub fn new(call: CallId, seed: u64, request: ModelRequest) -> Self {
        let key = request_key(seed, &serde_json::to_value(&request).unwrap_or_else(|error| panic!("a request is always JSON: {error}")));
        Self { call, seed, request, key }
    }

    /// Returns the call with a changed request but the same key.
    pub(super) fn with_request(&self, request: ModelRequest) -> Self {
        Self { request, ..self.clone() }
    }

    pub fn seed(&self) -> u64 {
        self.seed
    }

    pub fn request(&self) -> &ModelRequest {
        &self.request
    }

    /// Returns the key for cache and cassettes: a hash of request and seed, independent of the caller.
    pub fn key(&self) -> &ContentHash {
        &self.key
    }
}

pub(super) fn request_key(seed: u64, request: &Value) -> ContentHash {
    ContentHash::of_json(&json!({ "request": request, "seed": seed }))
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelRequest {
    pub model: String,
    pub system: String,
    pub messages: Vec<ChatMessage>,
    pub tools: Arc<[ToolListing]>,
    pub choice: ToolChoice,
    pub temperature: Option<f64>,
    pub max_output: u64,
    /// Vendor-specific settings, sent unchanged.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Value>,
}

/// Tool choice of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolChoice {
    /// Any tool or none.
    Free,
    /// Exactly this tool.
    Forced(String),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChatMessage {
    pub by: MessageRole,
    pub blocks: Vec<ContentBlock>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageRole {
    User,
    Model,
}

/// Block of a message. Vendor-specific fields are kept in `rest` or `raw` and sent back unchanged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "block", deny_unknown_fields)]
pub enum ContentBlock {
    Text {
        text: String,
        #[serde(default, skip_serializing_if = "Map::is_empty")]
        rest: Map<String, Value>,
    },
    /// Reasoning of the model, with the raw block for the vendor.
    Thinking {
        text: String,
        raw: Value,
    },
    Call {
        id: String,
        tool: String,
        args: CallArguments,
        #[serde(default, skip_serializing_if = "Map::is_empty")]
        rest: Map<String, Value>,
    },
    /// Result of a call.
    Answer {
        id: String,
        text: String,
        is_error: bool,
    },
    Refusal {
        text: String,
    },
    /// Unknown block, or a block of a server-side tool.
    Other {
        raw: Value,
    },
}

impl ContentBlock {
    pub fn text(text: impl Into<String>) -> Self {
        ContentBlock::Text { text: text.into(), rest: Map::new() }
    }
}

/// Arguments of a tool call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallArguments {
    Object(Map<String, Value>),
    /// Raw text that is not a JSON object.
    Malformed(String),
}

impl CallArguments {
    /// Parses arguments, which vendors send as an object or as JSON text. Null or empty text means no arguments.
    pub fn parse(value: Value) -> Self {
        match value {
            Value::Object(object) => CallArguments::Object(object),
            Value::Null => CallArguments::Object(Map::new()),
            Value::String(text) if text.trim().is_empty() => CallArguments::Object(Map::new()),
            Value::String(text) => match serde_json::from_str(&text) {
                Ok(Value::Object(object)) => CallArguments::Object(object),
                Ok(_) | Err(_) => CallArguments::Malformed(text),
            },
            Value::Bool(_) | Value::Number(_) | Value::Array(_) => CallArguments::Malformed(value.to_string()),
        }
    }

    /// Returns an object, for wire formats that require one.
    pub fn to_object(&self) -> Value {
        match self {
            CallArguments::Object(object) => Value::Object(object.clone()),
            CallArguments::Malformed(text) => json!({ "malformed": text }),
        }
    }

    /// Returns JSON text, for wire formats that require it.
    pub fn to_text(&self) -> String {
        match self {
            CallArguments::Object(object) => Value::Object(object.clone()).to_string(),
            CallArguments::Malformed(text) => text.clone(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelReply {
    pub blocks: Vec<ContentBlock>,
    pub stop: StopReason,
    /// `None` if the server reports no usage; the call is then charged its ceiling.
    pub usage: Option<TokenUsage>,
    /// Model name in the reply.
    pub model: String,
    pub request_id: Option<String>,
    /// Time from request to end of reply in the original call; replays keep it.
    pub latency_ms: u64,
    /// Unknown fields of the reply.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub rest: Map<String, Value>,
}

/// Reason why the model stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    End,
    Calls,
    MaxTokens,
    Refused,
    /// The vendor expects another request with the partial reply.
    Paused,
    Other(String),
}

/// Token usage. Input includes cached tokens; output includes reasoning.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TokenUsage {
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
    pub reasoning: u64,
}

impl ModelReply {
    /// Returns the text of the reply without reasoning.
    pub fn text(&self) -> String {
        let texts = self.blocks.iter().filter_map(|block| match block {
            ContentBlock::Text { text, .. } | ContentBlock::Refusal { text } => Some(text.as_str()),
            ContentBlock::Thinking { .. } | ContentBlock::Call { .. } | ContentBlock::Answer { .. } | ContentBlock::Other { .. } => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }

    pub fn to_json(&self) -> String {
        // Cannot fail: plain data with string keys.
        serde_json::to_string(self).unwrap_or_else(|error| panic!("a reply is always JSON: {error}"))
    }

    pub fn from_json(text: &str) -> Result<Self, ProviderFault> {
        serde_json::from_str(text).map_err(|error| ProviderFault::storage(format!("cannot read a stored reply: {error}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn call_arguments_parse_every_vendor_form() {
        let empty = CallArguments::Object(Map::new());
        for (sent, read) in [
            (json!({}), empty.clone()),
            (json!(null), empty.clone()),
            (json!(""), empty.clone()),
            (json!("  "), empty.clone()),
            (json!("{}"), empty),
            (json!("{\"a\":"), CallArguments::Malformed("{\"a\":".into())),
            (json!("[1]"), CallArguments::Malformed("[1]".into())),
            (json!([1]), CallArguments::Malformed("[1]".into())),
        ] {
            assert_eq!(CallArguments::parse(sent), read);
        }
        assert_eq!(CallArguments::parse(json!("{\"a\":1}")).to_object(), json!({"a": 1}));
    }

    #[test]
    fn key_depends_on_request_and_seed_only() {
        let request = ModelRequest {
            model: "m".into(),
            system: String::new(),
            messages: vec![],
            tools: Arc::from([]),
            choice: ToolChoice::Free,
            temperature: None,
            max_output: 10,
            extra: Map::new(),
        };
        let call = |n| CallId { trial: ContentHash::of_text("t"), role: crate::ledger::CallRole::Judge, n };
        let ask = |n, seed| ModelCall::new(call(n), seed, request.clone());
        assert_eq!(ask(0, 1).key(), ask(5, 1).key());
        assert_ne!(ask(0, 1).key(), ask(0, 2).key());
    }
}
