//! Moves of a subject.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Move {
    /// Answer of the acting agent: to the user at the root, otherwise to the delegating agent.
    Say(String),
    /// Question to the user.
    Ask(String),
    Activate {
        skill: String,
        params: Map<String, Value>,
    },
    /// One call, or several in parallel.
    Call(Vec<ToolCall>),
    Delegate {
        to: String,
        params: Map<String, Value>,
    },
    /// Reports suspicious content.
    Report(String),
    Refuse(String),
    Stop,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    pub tool: String,
    pub args: Value,
}
