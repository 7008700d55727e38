//! What is said to a model and what comes back, in the one shape that every wire format is translated from and to.

use super::fault::ProviderFault;
use crate::ledger::CallId;
use model::{ContentHash, ToolListing};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// One question to a model, with what identifies it in its run.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelCall {
    pub call: CallId,
    seed: u64,
    request: ModelRequest,
    key: ContentHash,
}

impl ModelCall {
    /// The seed is that of the trial: for jitter, and for which of several recordings of one request.
    pub fn new(call: CallId, seed: u64, request: ModelRequest) -> Self {
        let key = request_key(seed, &serde_json::to_value(&request).unwrap_or_else(|error| panic!("a request is always JSON: {error}")));
        Self { call, seed, request, key }
    }

    /// The same question in other words: filed under the same key.
    pub(super) fn with_request(&self, request: ModelRequest) -> Self {
        Self { request, ..self.clone() }
    }

    pub fn seed(&self) -> u64 {
        self.seed
    }

    pub fn request(&self) -> &ModelRequest {
        &self.request
    }

    /// What a cache or a recording is filed under: the request and the seed, never who asked.
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
    /// Settings of one vendor, sent as they are.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Value>,
}

/// Which tool the model is to call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolChoice {
    /// As it thinks fit.
    Free,
    /// This one, and no other.
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

/// A piece of a message. Whatever a vendor adds to one is kept in `rest` or `raw` and handed back as it came.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "block", deny_unknown_fields)]
pub enum ContentBlock {
    Text {
        text: String,
        #[serde(default, skip_serializing_if = "Map::is_empty")]
        rest: Map<String, Value>,
    },
    /// Thinking of the model, with whatever its maker wants to see again.
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
    /// What came of a call.
    Answer {
        id: String,
        text: String,
        is_error: bool,
    },
    Refusal {
        text: String,
    },
    /// A kind of block we do not know, or one of a tool that ran at the vendor.
    Other {
        raw: Value,
    },
}

impl ContentBlock {
    pub fn text(text: impl Into<String>) -> Self {
        ContentBlock::Text { text: text.into(), rest: Map::new() }
    }
}

/// What a model wants to call a tool with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallArguments {
    Object(Map<String, Value>),
    /// Text that is no JSON object, as it came.
    Malformed(String),
}

impl CallArguments {
    /// Vendors send arguments as an object or as JSON text; nothing at all means no arguments.
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

    /// As an object, for wires that take nothing else.
    pub fn to_object(&self) -> Value {
        match self {
            CallArguments::Object(object) => Value::Object(object.clone()),
            CallArguments::Malformed(text) => json!({ "malformed": text }),
        }
    }

    /// As text, for wires that want it so.
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
    /// Absent where the server does not count; then the call is settled at its ceiling.
    pub usage: Option<TokenUsage>,
    /// The model that says it answered.
    pub model: String,
    pub request_id: Option<String>,
    /// From the request to the end of the reply, when it was first asked.
    pub latency_ms: u64,
    /// Fields of the reply that we do not know.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub rest: Map<String, Value>,
}

/// Why the model stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    End,
    Calls,
    MaxTokens,
    Refused,
    /// The vendor wants to be asked again with what it said so far.
    Paused,
    Other(String),
}

/// Tokens. Input counts everything that was sent, cached or not; output counts thinking too.
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
    /// All text of the reply, without thinking.
    pub fn text(&self) -> String {
        let texts = self.blocks.iter().filter_map(|block| match block {
            ContentBlock::Text { text, .. } | ContentBlock::Refusal { text } => Some(text.as_str()),
            ContentBlock::Thinking { .. } | ContentBlock::Call { .. } | ContentBlock::Answer { .. } | ContentBlock::Other { .. } => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }

    pub fn to_json(&self) -> String {
        // Plain data with string keys; if it were not JSON, the ledger would keep something else than what came.
        serde_json::to_string(self).unwrap_or_else(|error| panic!("a reply is always JSON: {error}"))
    }

    pub fn from_json(text: &str) -> Result<Self, ProviderFault> {
        serde_json::from_str(text).map_err(|error| ProviderFault::storage(format!("a kept reply cannot be read: {error}")))
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
