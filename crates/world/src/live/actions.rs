//! Prepared actions, simulations and approvals of a trial, each bound to exact calldata.

use super::tool_error::{ToolError, quote_value};
use super::tx_plan::TxPlan;
use model::transcript::{ReviewDecision, ToolErrorCode};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

#[derive(Debug, Default)]
pub(crate) struct ActionState {
    frozen: BTreeMap<String, FrozenAction>,
    /// Hashes of calldata that was simulated successfully and not sent since.
    simulated: Vec<String>,
    approvals: Vec<ActionApproval>,
    /// Calldata hashes of approvals that a write consumed.
    used: Vec<String>,
    writes_at_ms: Vec<u64>,
}

#[derive(Debug, Clone)]
pub(crate) struct FrozenAction {
    /// Write tool that executes the action.
    pub tool: String,
    pub args: Map<String, Value>,
    pub plan: TxPlan,
    pub calldata_hash: String,
    pub prepared_at_ms: u64,
    pub expires_at_ms: u64,
}

#[derive(Debug, Clone)]
struct ActionApproval {
    calldata_hash: String,
    policy: u64,
}

impl ActionState {
    /// Returns the id of the next action.
    pub(crate) fn next_id(&self) -> String {
        format!("action-{}", self.frozen.len() + 1)
    }

    pub(crate) fn insert(&mut self, id: String, frozen: FrozenAction) {
        self.frozen.insert(id, frozen);
    }

    pub(crate) fn get(&self, id: &str) -> Option<&FrozenAction> {
        self.frozen.get(id)
    }

    /// Returns the action prepared under this id; fails if there is none.
    pub(crate) fn get_prepared(&self, id: &str) -> Result<&FrozenAction, ToolError> {
        self.get(id).ok_or_else(|| ToolError::new(ToolErrorCode::UnknownAction, format!("no action {} was prepared", quote_value(id))))
    }

    pub(crate) fn add_simulation(&mut self, calldata_hash: &str) {
        self.simulated.push(calldata_hash.to_owned());
    }

    pub(crate) fn apply_decision(&mut self, calldata_hash: &str, decision: ReviewDecision, policy: u64) {
        match decision {
            ReviewDecision::Approve => self.approvals.push(ActionApproval { calldata_hash: calldata_hash.to_owned(), policy }),
            ReviewDecision::Veto => self.approvals.retain(|approval| approval.calldata_hash != calldata_hash),
        }
    }

    pub(crate) fn was_simulated(&self, calldata_hash: &str) -> bool {
        self.simulated.iter().any(|known| known == calldata_hash)
    }

    pub(crate) fn is_approved(&self, calldata_hash: &str, policy: u64) -> bool {
        self.approvals.iter().any(|approval| approval.calldata_hash == calldata_hash && approval.policy == policy)
    }

    pub(crate) fn approval_was_used(&self, calldata_hash: &str) -> bool {
        self.used.iter().any(|known| known == calldata_hash)
    }

    pub(crate) fn writes_since(&self, from_ms: u64) -> usize {
        self.writes_at_ms.iter().filter(|at| **at >= from_ms).count()
    }

    /// Records a write, which consumes one simulation and one approval of its calldata.
    pub(crate) fn record_write(&mut self, calldata_hash: &str, now_ms: u64) {
        self.writes_at_ms.push(now_ms);
        if let Some(at) = self.simulated.iter().position(|known| known == calldata_hash) {
            self.simulated.remove(at);
        }
        if let Some(at) = self.approvals.iter().position(|approval| approval.calldata_hash == calldata_hash) {
            self.used.push(self.approvals.remove(at).calldata_hash);
        }
    }

    pub(crate) fn last_write_ms(&self) -> Option<u64> {
        self.writes_at_ms.last().copied()
    }
}
