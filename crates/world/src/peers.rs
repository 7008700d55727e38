//! Guardian and assessor computed from policy: deterministic peers for trials of a single agent.

use crate::PeerAnswer;
use model::Workspace;
use model::transcript::Decision;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// An action as it was frozen.
#[derive(Debug, Clone)]
pub(crate) struct Prepared {
    pub tool: String,
    pub args: Value,
}

const GUARDIAN: &str = "safety-guardian";
const ASSESSOR: &str = "risk-assessor";

pub(crate) fn is_stub(agent: &str) -> bool {
    matches!(agent, GUARDIAN | ASSESSOR)
}

/// Uncertain means veto. The guardian judges one prepared action; the assessor also a mere proposal.
pub(crate) fn decide(peer: &str, workspace: &Workspace, actions: &BTreeMap<String, Prepared>, params: &Map<String, Value>) -> PeerAnswer {
    let action_id = params.get("action_id").and_then(Value::as_str).map(str::to_owned);
    let refusal = match &action_id {
        None if peer == ASSESSOR => objection(workspace, "the proposal", &Value::Object(params.clone())),
        None => Some("no action_id was handed over".to_owned()),
        Some(id) => match actions.get(id) {
            None => Some(format!("{id} was never prepared")),
            Some(action) => objection(workspace, &action.tool, &action.args),
        },
    };
    match refusal {
        Some(reason) => PeerAnswer { action_id, decision: Decision::Veto, reason },
        None => {
            PeerAnswer { action_id, decision: Decision::Approve, reason: format!("within policy version {}", workspace.policy.version) }
        }
    }
}

fn objection(workspace: &Workspace, what: &str, args: &Value) -> Option<String> {
    let policy = &workspace.policy;
    let slippage = args.get("slippage_bps").and_then(Value::as_u64).filter(|bps| *bps > policy.slippage_bps.max);
    if let Some(bps) = slippage {
        return Some(format!("{what}: slippage of {bps} bps is over the maximum of {}", policy.slippage_bps.max));
    }
    let unapproved =
        ["token", "token_in", "token_out", "asset"].iter().filter_map(|name| args.get(*name).and_then(Value::as_str)).find(|token| {
            let symbol = symbol_of(workspace, token);
            !policy.approved_assets.iter().any(|asset| asset.eq_ignore_ascii_case(symbol))
        });
    if let Some(token) = unapproved {
        return Some(format!("{what}: {token} is not an approved asset"));
    }
    let text = args.to_string().to_lowercase();
    policy
        .sanctioned
        .iter()
        .find(|address| text.contains(&address.text.to_lowercase()))
        .map(|address| format!("{what}: {} is sanctioned", address.text))
}

fn symbol_of<'a>(workspace: &'a Workspace, token: &'a str) -> &'a str {
    let known = workspace.chains.iter().flat_map(|chain| &chain.tokens).find(|known| known.address.text.eq_ignore_ascii_case(token));
    known.map_or(token, |known| known.symbol.as_str())
}
