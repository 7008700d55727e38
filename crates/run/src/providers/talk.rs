//! What is said to a model and what comes back, in the one shape that every wire format is translated from and to.

use super::fault::ProviderFault;
use crate::ledger::CallId;
use model::{Hash, Listing};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// One question to a model, with what identifies it in its run.
#[derive(Debug, Clone, PartialEq)]
pub struct Ask {
    pub call: CallId,
    seed: u64,
    request: Request,
    key: Hash,
}

impl Ask {
    /// The seed is that of the trial: for jitter, and for which of several recordings of one request.
    pub fn new(call: CallId, seed: u64, request: Request) -> Self {
        let key = key_of(seed, &serde_json::to_value(&request).unwrap_or_else(|error| panic!("a request is always JSON: {error}")));
        Self { call, seed, request, key }
    }

    /// The same question in other words: filed under the same key.
    pub(super) fn rephrased(&self, request: Request) -> Self {
        Self { request, ..self.clone() }
    }

    pub fn seed(&self) -> u64 {
        self.seed
    }

    pub fn request(&self) -> &Request {
        &self.request
    }

    /// What a cache or a recording is filed under: the request and the seed, never who asked.
    pub fn key(&self) -> &Hash {
        &self.key
    }
}

pub(super) fn key_of(seed: u64, request: &Value) -> Hash {
    Hash::of(&json!({ "request": request, "seed": seed }))
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub model: String,
    pub system: String,
    pub messages: Vec<Message>,
    pub tools: Arc<[Listing]>,
    pub choice: Choice,
    pub temperature: Option<f64>,
    pub max_output: u64,
    /// Settings of one vendor, sent as they are.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Value>,
}

/// Which tool the model is to call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    /// As it thinks fit.
    Free,
    /// This one, and no other.
    Forced(String),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Message {
    pub by: By,
    pub blocks: Vec<Block>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    User,
    Model,
}

/// A piece of a message. Whatever a vendor adds to one is kept in `rest` or `raw` and handed back as it came.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "block", deny_unknown_fields)]
pub enum Block {
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
        args: Args,
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

impl Block {
    pub fn text(text: impl Into<String>) -> Self {
        Block::Text { text: text.into(), rest: Map::new() }
    }
}

/// What a model wants to call a tool with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Args {
    Object(Map<String, Value>),
    /// Text that is no JSON object, as it came.
    Malformed(String),
}

impl Args {
    /// Vendors send arguments as an object or as JSON text; nothing at all means no arguments.
    pub fn read(value: Value) -> Self {
        match value {
            Value::Object(object) => Args::Object(object),
            Value::Null => Args::Object(Map::new()),
            Value::String(text) if text.trim().is_empty() => Args::Object(Map::new()),
            Value::String(text) => match serde_json::from_str(&text) {
                Ok(Value::Object(object)) => Args::Object(object),
                Ok(_) | Err(_) => Args::Malformed(text),
            },
            Value::Bool(_) | Value::Number(_) | Value::Array(_) => Args::Malformed(value.to_string()),
        }
    }

    /// As an object, for wires that take nothing else.
    pub fn object(&self) -> Value {
        match self {
            Args::Object(object) => Value::Object(object.clone()),
            Args::Malformed(text) => json!({ "malformed": text }),
        }
    }

    /// As text, for wires that want it so.
    pub fn text(&self) -> String {
        match self {
            Args::Object(object) => Value::Object(object.clone()).to_string(),
            Args::Malformed(text) => text.clone(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reply {
    pub blocks: Vec<Block>,
    pub stop: Stop,
    /// Absent where the server does not count; then the call is settled at its ceiling.
    pub usage: Option<Usage>,
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
pub enum Stop {
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
pub struct Usage {
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
    pub reasoning: u64,
}

impl Reply {
    /// All text of the reply, without thinking.
    pub fn text(&self) -> String {
        let texts = self.blocks.iter().filter_map(|block| match block {
            Block::Text { text, .. } | Block::Refusal { text } => Some(text.as_str()),
            Block::Thinking { .. } | Block::Call { .. } | Block::Answer { .. } | Block::Other { .. } => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }

    pub fn to_json(&self) -> String {
        // Plain data with string keys; if it were not JSON, the ledger would keep something else than what came.
        serde_json::to_string(self).unwrap_or_else(|error| panic!("a reply is always JSON: {error}"))
    }

    pub fn from_json(text: &str) -> Result<Self, ProviderFault> {
        serde_json::from_str(text).map_err(|error| ProviderFault::stored(format!("a kept reply cannot be read: {error}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_read_in_every_form_vendors_send() {
        let empty = Args::Object(Map::new());
        for (sent, read) in [
            (json!({}), empty.clone()),
            (json!(null), empty.clone()),
            (json!(""), empty.clone()),
            (json!("  "), empty.clone()),
            (json!("{}"), empty),
            (json!("{\"a\":"), Args::Malformed("{\"a\":".into())),
            (json!("[1]"), Args::Malformed("[1]".into())),
            (json!([1]), Args::Malformed("[1]".into())),
        ] {
            assert_eq!(Args::read(sent), read);
        }
        assert_eq!(Args::read(json!("{\"a\":1}")).object(), json!({"a": 1}));
    }

    #[test]
    fn the_key_knows_request_and_seed_and_not_who_asked() {
        let request = Request {
            model: "m".into(),
            system: String::new(),
            messages: vec![],
            tools: Arc::from([]),
            choice: Choice::Free,
            temperature: None,
            max_output: 10,
            extra: Map::new(),
        };
        let call = |n| CallId { trial: Hash::of_text("t"), role: crate::ledger::Role::Judge, n };
        let ask = |n, seed| Ask::new(call(n), seed, request.clone());
        assert_eq!(ask(0, 1).key(), ask(5, 1).key());
        assert_ne!(ask(0, 1).key(), ask(0, 2).key());
    }
}
