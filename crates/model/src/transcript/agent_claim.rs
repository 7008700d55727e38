//! Claims of an external agent about steps that the harness could not observe. Kept apart from observed events.

use super::decision::ReviewDecision;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum AgentClaim {
    /// It handed work to an agent of its own.
    Delegated {
        to: String,
        #[serde(default)]
        params: Map<String, Value>,
    },
    /// A guard of its own decided about an action.
    Decided {
        by: String,
        #[serde(default)]
        action_id: Option<String>,
        decision: ReviewDecision,
        #[serde(default)]
        reason: String,
    },
    /// A guard of its own found something suspicious.
    Reported { text: String },
}
