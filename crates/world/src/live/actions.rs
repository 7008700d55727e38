//! Prepared actions, simulations and approvals of a trial, each bound to exact calldata.

use super::tool_error::{ToolError, quote_value};
use super::tx_plan::TxPlan;
use alloy_primitives::U256;
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
    grants: Vec<ActionGrant>,
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

/// Action that the policy-based guardian approved for a request.
#[derive(Debug, Clone)]
pub(crate) struct ActionGrant {
    pub action_id: String,
    pub calldata_hash: String,
    /// Identity of the request.
    pub request: String,
    /// Amount by symbol, in a scale common to all grants.
    pub spends: Vec<(String, U256)>,
    /// Value of everything it spends, with 8 decimals.
    pub worth_usd8: U256,
    /// A signature, not a transaction.
    pub signs: bool,
    pub expires_at_ms: u64,
    pub sent: bool,
}

impl ActionGrant {
    pub(crate) fn spent(&self, symbol: &str) -> Option<U256> {
        self.spends.iter().find(|(known, _)| known == symbol).map(|(_, amount)| *amount)
    }
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
            ReviewDecision::Veto => {
                self.approvals.retain(|approval| approval.calldata_hash != calldata_hash);
                self.grants.retain(|grant| grant.sent || grant.calldata_hash != calldata_hash);
            }
        }
    }

    /// Records an approval for a request, before its decision is applied. Approving the same action again replaces the unused approval, so
    /// that it allows one write.
    pub(crate) fn add_grant(&mut self, grant: ActionGrant) {
        if let Some(at) = self.grants.iter().position(|known| !known.sent && known.action_id == grant.action_id) {
            let replaced = self.grants.remove(at);
            if let Some(at) = self.approvals.iter().position(|approval| approval.calldata_hash == replaced.calldata_hash) {
                self.approvals.remove(at);
            }
        }
        self.grants.push(grant);
    }

    /// Returns the approvals for a request that were used or still can be, without an unused one of this action.
    pub(crate) fn granted(&self, request: &str, action_id: &str, now_ms: u64) -> Vec<&ActionGrant> {
        let counts = |grant: &&ActionGrant| grant.sent || (grant.action_id != action_id && now_ms <= grant.expires_at_ms);
        self.grants.iter().filter(|grant| grant.request == request).filter(counts).collect()
    }

    /// Returns the value of approved signatures or transactions that were not sent and still can be, without this action.
    pub(crate) fn pending_usd8(&self, signs: bool, action_id: &str, now_ms: u64) -> U256 {
        let pending =
            |grant: &&ActionGrant| !grant.sent && grant.signs == signs && grant.action_id != action_id && now_ms <= grant.expires_at_ms;
        self.grants.iter().filter(pending).fold(U256::ZERO, |sum, grant| sum.saturating_add(grant.worth_usd8))
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
        if let Some(grant) = self.grants.iter_mut().find(|grant| !grant.sent && grant.calldata_hash == calldata_hash) {
            grant.sent = true;
        }
    }

    pub(crate) fn last_write_ms(&self) -> Option<u64> {
        self.writes_at_ms.last().copied()
    }
}
