//! Claims of external agents about steps that the harness could not observe. Separate from observed events.

use super::decision::ReviewDecision;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum AgentClaim {
    /// Delegation to one of its own agents.
    Delegated {
        to: String,
        #[serde(default)]
        params: Map<String, Value>,
    },
    /// Decision of its own guard about an action.
    Decided {
        by: String,
        #[serde(default)]
        action_id: Option<String>,
        decision: ReviewDecision,
        #[serde(default)]
        reason: String,
    },
    /// Suspicious content found by its own guard.
    Reported { text: String },
}
