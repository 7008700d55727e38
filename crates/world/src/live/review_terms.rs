//! Compares the user's terms in a review request with the action that would be signed.

use super::actions::{ActionState, FrozenAction};
use super::args::scalar_text;
use super::hooks::excess_slippage;
use super::tool_error::quote_value;
use super::tx_plan::{PartyRole, PlanKind, TxPlan};
use crate::chain::AddressBook;
use alloy_primitives::{Address, U256};
use model::{Workspace, format_units, parse_units};
use serde_json::{Map, Value};

/// Decimals in which amounts of one symbol are added up over chains.
const SUM_DECIMALS: u8 = 36;

/// Terms of a review request and the action they are compared with.
#[derive(Debug, Clone, Copy)]
pub(super) struct TermsReview<'a> {
    pub workspace: &'a Workspace,
    /// Address book of the action's chain.
    pub book: &'a AddressBook,
    pub actions: &'a ActionState,
    pub now_ms: u64,
    pub action_id: &'a str,
    pub frozen: &'a FrozenAction,
    pub params: &'a Map<String, Value>,
}

impl TermsReview<'_> {
    /// Returns the first term that the action goes beyond: `chains`, `payees`, `spend`, `receive` or `slippage_bps`. Terms that are absent
    /// do not bind.
    pub(super) fn exceeded_term(&self) -> Option<String> {
        let term = |key: &str| self.params.get(key).filter(|value| !value.is_null());
        let plan = &self.frozen.plan;
        term("chains")
            .and_then(|chains| wrong_chain(self.workspace, plan, chains))
            .or_else(|| term("payees").and_then(|payees| unnamed_recipient(self.book, plan, payees)))
            .or_else(|| term("spend").and_then(|spend| self.excess_outflow(spend)))
            .or_else(|| term("receive").and_then(|receive| missing_inflow(self.book, plan, receive)))
            .or_else(|| term("slippage_bps").and_then(|slippage| self.loose_slippage(slippage)))
    }

    /// Compares what leaves with `spend`, alone and together with the actions that were approved for the same request.
    fn excess_outflow(&self, spend: &Value) -> Option<String> {
        let earlier = self.actions.granted(&request_key(self.workspace, self.params), self.action_id, self.now_ms);
        outflows(self.book, &self.frozen.plan).into_iter().find_map(|(symbol, asset, amount)| {
            let limits = items(spend).filter(|limit| names_asset(limit, &symbol, asset));
            let allowed = limits.fold(U256::ZERO, |sum, limit| sum.saturating_add(limit_of(limit)));
            let shown = |amount: U256| format_units(amount, SUM_DECIMALS);
            if amount > allowed {
                return Some(format!("it spends {} {symbol}, the request allows {}", shown(amount), shown(allowed)));
            }
            let before: Vec<(&str, U256)> =
                earlier.iter().filter_map(|grant| Some((grant.action_id.as_str(), grant.spent(&symbol)?))).collect();
            let total = before.iter().fold(amount, |sum, (_, amount)| sum.saturating_add(*amount));
            let ids: Vec<&str> = before.iter().map(|(id, _)| *id).collect();
            (total > allowed).then(|| {
                let (total, allowed, ids) = (shown(total), shown(allowed), ids.join(", "));
                format!("together with {ids}, approved for the same request, it spends {total} {symbol}, the request allows {allowed}")
            })
        })
    }

    fn loose_slippage(&self, slippage: &Value) -> Option<String> {
        let Ok(max) = scalar_text(slippage).parse::<u64>() else { return Some("slippage_bps of the request is not a number".into()) };
        let tool = self.workspace.tool(&self.frozen.tool)?;
        let bps = excess_slippage(tool, &self.frozen.args, &self.frozen.plan, max)?;
        Some(format!("it tolerates {bps} bps of slippage, the request allows {max}"))
    }
}

/// Returns the identity of a request: the same terms are one request, in any order and spelling.
pub(super) fn request_key(workspace: &Workspace, params: &Map<String, Value>) -> String {
    let list = |key: &str, read: &dyn Fn(&Value) -> String| {
        let mut parts: Vec<String> = params.get(key).into_iter().flat_map(items).map(read).collect();
        parts.sort();
        parts.dedup();
        format!("{key}={}", parts.join(","))
    };
    let token = |item: &Value| token_symbol(workspace, &token_text(item));
    let limit = |item: &Value| format!("{} {}", token(item), limit_of(item));
    let chain = |item: &Value| workspace.chain(&scalar_text(item)).map_or_else(|| scalar_text(item), |chain| chain.id.to_string());
    let payee = |item: &Value| scalar_text(item).to_lowercase();
    [list("spend", &limit), list("receive", &token), list("chains", &chain), list("payees", &payee)].join(";")
}

fn token_symbol(workspace: &Workspace, text: &str) -> String {
    let mut tokens = workspace.chains.iter().flat_map(|chain| &chain.tokens);
    let known = tokens.find(|token| token.address.text.eq_ignore_ascii_case(text));
    known.map_or(text, |token| token.symbol.as_str()).to_lowercase()
}

/// Limit of an item of `spend`, in [`SUM_DECIMALS`]. Nothing is allowed without an amount.
fn limit_of(item: &Value) -> U256 {
    let amount = item.get("at_most").or_else(|| item.get("amount")).map(scalar_text).unwrap_or_default();
    if amount == "max" { U256::MAX } else { parse_units(&amount, SUM_DECIMALS).unwrap_or_default() }
}

/// Returns what a plan spends: symbol, asset and amount in [`SUM_DECIMALS`].
pub(super) fn outflows(book: &AddressBook, plan: &TxPlan) -> Vec<(String, Address, U256)> {
    let planned = plan.outflows.iter().filter(|(_, amount)| !amount.is_zero());
    let mut sums: Vec<(String, Address, U256)> = vec![];
    for (asset, amount) in planned {
        let decimals = book.get(*asset).and_then(|entry| entry.asset.as_ref()).map_or(18, |(_, decimals)| *decimals);
        let amount = amount.saturating_mul(U256::from(10).pow(U256::from(SUM_DECIMALS.saturating_sub(decimals))));
        match sums.iter_mut().find(|(_, known, _)| known == asset) {
            Some((_, _, sum)) => *sum = sum.saturating_add(amount),
            None => sums.push((book.asset(*asset), *asset, amount)),
        }
    }
    sums
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

/// Compares what a trade buys with `receive`: tokens, with or without a least amount. Only trades state what comes in.
fn missing_inflow(book: &AddressBook, plan: &TxPlan, receive: &Value) -> Option<String> {
    let trade = plan.trade.as_ref()?;
    let assets = plan.parties.iter().filter(|(role, _)| *role == PartyRole::Asset).map(|(_, asset)| *asset);
    let bought = assets.into_iter().find(|asset| book.asset(*asset) == trade.buy);
    let decimals = bought.and_then(|asset| book.get(asset)?.asset.as_ref()).map_or(18, |(_, decimals)| *decimals);
    let mut wanted = items(receive).filter(|item| names_asset(item, &trade.buy, bought.unwrap_or_default())).peekable();
    if wanted.peek().is_none() {
        return Some(format!("it buys {}, which is not what the request is to receive", trade.buy));
    }
    let least = U256::from_str_radix(&trade.least, 10).unwrap_or_default();
    let amount = |wanted: &Value| wanted.get("at_least").or_else(|| wanted.get("amount")).map(scalar_text);
    wanted.filter_map(amount).find_map(|text| {
        let Some(asked) = parse_units(&text, decimals) else {
            return Some(format!("{} {} to receive is not an amount", quote_value(&text), trade.buy));
        };
        let shown = format_units(least, decimals);
        (least < asked).then(|| format!("it may buy as little as {shown} {}, the request is to receive at least {text}", trade.buy))
    })
}

/// Returns whether an item of a request, a token or an object with a token, names this asset.
fn names_asset(item: &Value, symbol: &str, asset: Address) -> bool {
    let token = token_text(item);
    token.eq_ignore_ascii_case(symbol) || token.eq_ignore_ascii_case(&asset.to_string())
}

fn token_text(item: &Value) -> String {
    scalar_text(item.get("token").or_else(|| item.get("asset")).unwrap_or(item))
}

/// Items of a list; a single value is a list of one.
fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice).iter()
}

#[cfg(test)]
mod tests;
