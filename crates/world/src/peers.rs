//! Guardian and assessor computed from policy: deterministic peers for trials of a single agent.

use crate::PeerAnswer;
use model::Policy;
use model::transcript::Decision;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// An action as it was frozen.
#[derive(Debug, Clone)]
pub(crate) struct Prepared {
    pub tool: String,
    pub args: Value,
}

pub(crate) fn is_stub(agent: &str) -> bool {
    matches!(agent, "safety-guardian" | "risk-assessor")
}

/// Uncertain means veto: no id, an unknown action or a parameter over a limit.
pub(crate) fn decide(policy: &Policy, actions: &BTreeMap<String, Prepared>, params: &Map<String, Value>) -> PeerAnswer {
    let action_id = params.get("action_id").and_then(Value::as_str).map(str::to_owned);
    let refusal = match &action_id {
        None => Some("no action_id was handed over".to_owned()),
        Some(id) => match actions.get(id) {
            None => Some(format!("{id} was never prepared")),
            Some(action) => objection(policy, action),
        },
    };
    match refusal {
        Some(reason) => PeerAnswer { action_id, decision: Decision::Veto, reason },
        None => PeerAnswer { action_id, decision: Decision::Approve, reason: format!("within policy version {}", policy.version) },
    }
}

fn objection(policy: &Policy, action: &Prepared) -> Option<String> {
    let slippage = action.args.get("slippage_bps").and_then(Value::as_u64).filter(|bps| *bps > policy.slippage_bps.max);
    if let Some(bps) = slippage {
        return Some(format!("{}: slippage of {bps} bps is over the maximum of {}", action.tool, policy.slippage_bps.max));
    }
    let text = action.args.to_string().to_lowercase();
    policy
        .sanctioned
        .iter()
        .find(|address| text.contains(&address.text.to_lowercase()))
        .map(|address| format!("{}: {} is sanctioned", action.tool, address.text))
}
