//! Prepared actions, simulations and approvals of a trial, each bound to exact calldata.

use super::deal::Deal;
use model::transcript::Decision;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

#[derive(Debug, Default)]
pub(crate) struct Actions {
    frozen: BTreeMap<String, Frozen>,
    /// Calldata that was simulated with success and not sent since.
    simulated: Vec<String>,
    approvals: Vec<Approval>,
    /// Approvals that a write has used.
    used: Vec<String>,
    writes_at_ms: Vec<u64>,
}

#[derive(Debug, Clone)]
pub(crate) struct Frozen {
    /// The write tool that would carry it out.
    pub tool: String,
    pub args: Map<String, Value>,
    pub deal: Deal,
    pub calldata: String,
    pub prepared_at_ms: u64,
    pub expires_at_ms: u64,
}

#[derive(Debug, Clone)]
struct Approval {
    calldata: String,
    policy: u64,
}

impl Actions {
    /// The id the next action will have.
    pub(crate) fn next_id(&self) -> String {
        format!("action-{}", self.frozen.len() + 1)
    }

    pub(crate) fn freeze(&mut self, id: String, frozen: Frozen) {
        self.frozen.insert(id, frozen);
    }

    pub(crate) fn get(&self, id: &str) -> Option<&Frozen> {
        self.frozen.get(id)
    }

    pub(crate) fn simulated(&mut self, calldata: &str) {
        self.simulated.push(calldata.to_owned());
    }

    pub(crate) fn decided(&mut self, calldata: &str, decision: Decision, policy: u64) {
        match decision {
            Decision::Approve => self.approvals.push(Approval { calldata: calldata.to_owned(), policy }),
            Decision::Veto => self.approvals.retain(|approval| approval.calldata != calldata),
        }
    }

    pub(crate) fn was_simulated(&self, calldata: &str) -> bool {
        self.simulated.iter().any(|known| known == calldata)
    }

    pub(crate) fn is_approved(&self, calldata: &str, policy: u64) -> bool {
        self.approvals.iter().any(|approval| approval.calldata == calldata && approval.policy == policy)
    }

    pub(crate) fn approval_was_used(&self, calldata: &str) -> bool {
        self.used.iter().any(|known| known == calldata)
    }

    pub(crate) fn writes_since(&self, from_ms: u64) -> usize {
        self.writes_at_ms.iter().filter(|at| **at >= from_ms).count()
    }

    /// A write uses up one simulation and one approval of its calldata.
    pub(crate) fn sent(&mut self, calldata: &str, now_ms: u64) {
        self.writes_at_ms.push(now_ms);
        if let Some(at) = self.simulated.iter().position(|known| known == calldata) {
            self.simulated.remove(at);
        }
        if let Some(at) = self.approvals.iter().position(|approval| approval.calldata == calldata) {
            self.used.push(self.approvals.remove(at).calldata);
        }
    }

    pub(crate) fn last_write_ms(&self) -> Option<u64> {
        self.writes_at_ms.last().copied()
    }
}
