//! Compares the user's terms in a review request with the action that would be signed.

use super::args::scalar_text;
use super::tx_plan::{PartyRole, PlanKind, TxPlan};
use crate::chain::AddressBook;
use alloy_primitives::U256;
use model::{Workspace, format_units, parse_units};
use serde_json::{Map, Value};

/// Returns the first term of a request that the plan goes beyond: `chains`, `payees` or `spend`. Terms that are absent do not bind.
pub(super) fn exceeded_term(workspace: &Workspace, book: &AddressBook, plan: &TxPlan, params: &Map<String, Value>) -> Option<String> {
    let term = |key: &str| params.get(key).filter(|value| !value.is_null());
    term("chains")
        .and_then(|chains| wrong_chain(workspace, plan, chains))
        .or_else(|| term("payees").and_then(|payees| unnamed_recipient(book, plan, payees)))
        .or_else(|| term("spend").and_then(|spend| excess_outflow(book, plan, spend)))
}

/// Only transactions have a chain: a tool without a chain parameter signs messages on the first one.
fn wrong_chain(workspace: &Workspace, plan: &TxPlan, chains: &Value) -> Option<String> {
    match plan.kind {
        PlanKind::Execute(_) | PlanKind::Direct(_) => {}
        PlanKind::Sign(_) | PlanKind::Inflow { .. } | PlanKind::Remember { .. } => return None,
    }
    let named = items(chains).filter_map(|chain| workspace.chain(&scalar_text(chain))).any(|chain| chain.id == plan.chain);
    (!named).then(|| format!("it acts on chain {}, which the request does not name", plan.chain))
}

fn unnamed_recipient(book: &AddressBook, plan: &TxPlan, payees: &Value) -> Option<String> {
    let recipients = plan.parties.iter().filter(|(role, _)| *role == PartyRole::Recipient).map(|(_, address)| book.party(*address));
    let stranger = recipients.into_iter().find(|party| {
        let is_named = |payee: &Value| {
            let payee = scalar_text(payee);
            payee.eq_ignore_ascii_case(&party.address) || party.name.as_deref().is_some_and(|name| payee.eq_ignore_ascii_case(name))
        };
        !party.own && !items(payees).any(is_named)
    })?;
    Some(format!("it pays {}, which is not among the payees of the request", stranger.address))
}

fn excess_outflow(book: &AddressBook, plan: &TxPlan, spend: &Value) -> Option<String> {
    plan.outflows.iter().filter(|(_, amount)| !amount.is_zero()).find_map(|(asset, amount)| {
        let symbol = book.asset(*asset);
        let decimals = book.get(*asset).and_then(|entry| entry.asset.as_ref()).map_or(18, |(_, decimals)| *decimals);
        let limits = items(spend).filter(|limit| {
            let token = limit.get("token").map(scalar_text).unwrap_or_default();
            token.eq_ignore_ascii_case(&symbol) || token.eq_ignore_ascii_case(&asset.to_string())
        });
        let allowed = limits.fold(U256::ZERO, |sum, limit| {
            let amount = limit.get("at_most").or_else(|| limit.get("amount")).map(scalar_text).unwrap_or_default();
            sum.saturating_add(if amount == "max" { U256::MAX } else { parse_units(&amount, decimals).unwrap_or_default() })
        });
        let (planned, limit) = (format_units(*amount, decimals), format_units(allowed, decimals));
        (*amount > allowed).then(|| format!("it spends {planned} {symbol}, the request allows {limit}"))
    })
}

/// Items of a list; a single value is a list of one.
fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice).iter()
}
