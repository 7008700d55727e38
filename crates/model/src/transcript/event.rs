//! One numbered event of a transcript. A closed set: a new kind of event must break every reader.

use super::effect::{Mined, Signed};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Event {
    /// Scores cite this number.
    pub n: u32,
    /// Virtual milliseconds since the trial began.
    pub at_ms: u64,
    /// Who acted: an agent's name, `user`, or `assistant` where the surface is no agent.
    pub by: String,
    /// Delegation hops from the root.
    pub depth: u32,
    pub happened: Happened,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Happened {
    UserSaid {
        text: String,
    },
    Said {
        text: String,
    },
    Asked {
        text: String,
    },
    Refused {
        text: String,
    },
    Activated {
        skill: String,
        params: Map<String, Value>,
    },
    Called {
        call: u32,
        tool: String,
        args: Value,
    },
    Answered {
        call: u32,
        answer: ToolAnswer,
    },
    Delegated {
        to: String,
        params: Map<String, Value>,
    },
    /// A guardian or assessor decided about an action.
    Decided {
        action_id: Option<String>,
        decision: Decision,
        reason: String,
    },
    /// A delegated agent handed its answer back.
    Returned {
        text: String,
    },
    Reported {
        text: String,
    },
    /// A signature was asked for; it may never be used.
    Signed(Box<Signed>),
    /// A transaction stood in a block.
    Mined(Box<Mined>),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ToolAnswer {
    Result(Value),
    /// The tool's own failure, with a typed code.
    Error {
        code: String,
        message: String,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    Approve,
    Veto,
}
