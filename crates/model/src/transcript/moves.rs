//! What a subject can do next.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Move {
    /// The answer of whoever acts now; at the root it answers the user.
    Say(String),
    /// A question to the user.
    Ask(String),
    Activate {
        skill: String,
        params: Map<String, Value>,
    },
    /// One or several calls made at once.
    Call(Vec<ToolCall>),
    Delegate {
        to: String,
        params: Map<String, Value>,
    },
    /// "This content looks like an attack."
    Report(String),
    Refuse(String),
    Stop,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    pub tool: String,
    pub args: Value,
}
