//! Moving tokens, letting others move them, and taking that back.

use super::{Erc20, amount, deal, main_asset, value_of};
use crate::chain::genesis::{ACCOUNT, KEEPER};
use crate::live::args::{Args, address, word};
use crate::live::deal::{Call, Deal, Part, Work};
use crate::live::desk::{Asset, Desk, human};
use crate::live::fault::Fault;
use alloy_primitives::{Address, U256};
use alloy_sol_types::SolCall;
use model::{Kind, Tool};
use serde_json::{Value, json};

pub(super) fn send(desk: &Desk<'_>, args: &Args<'_>) -> Result<Deal, Fault> {
    let asset = main_asset(desk, None, args, &["asset"])?;
    let amount = amount(desk, args, &asset)?;
    let to = args.address("recipient")?.ok_or_else(|| Fault::new("VALIDATION_INVALID_ADDRESS", "the call names no recipient"))?.address;
    let mut deal =
        deal(desk, vec![pay(&asset, to, amount)], vec![(asset.at, amount)], vec![(Part::Recipient, to), (Part::Asset, asset.at)]);
    deal.tells.insert("sent".into(), json!({ "asset": asset.symbol, "amount": human(amount, asset.decimals), "to": to.to_checksum(None) }));
    Ok(deal)
}

fn pay(asset: &Asset, to: Address, amount: U256) -> Call {
    if asset.is_native() {
        return Call { to, value: amount, data: vec![] };
    }
    Call { to: asset.at, value: value_of(asset, U256::ZERO), data: Erc20::transferCall { to, value: amount }.abi_encode() }
}

/// Everything, or everything of some tokens, to another wallet.
pub(super) async fn sweep(desk: &mut Desk<'_>, args: &Args<'_>) -> Result<Deal, Fault> {
    let to = args.address("recipient")?.ok_or_else(|| Fault::new("VALIDATION_INVALID_ADDRESS", "the call names no destination"))?.address;
    let wanted: Option<Vec<Asset>> = args
        .first(|kind| matches!(kind, Kind::List(inner) if matches!(**inner, Kind::Token(_))))
        .and_then(|(_, value)| value.as_array())
        .map(|items| items.iter().map(|item| desk.asset(&word(item))).collect::<Result<_, _>>())
        .transpose()?;
    let assets = match wanted {
        Some(assets) => assets,
        None => {
            let symbols: Vec<String> =
                desk.registry().map(|chain| chain.tokens.iter().map(|token| token.symbol.value.clone()).collect()).unwrap_or_default();
            symbols.iter().map(|symbol| desk.asset(symbol)).collect::<Result<_, _>>()?
        }
    };
    let (mut calls, mut gives) = (vec![], vec![]);
    for asset in assets {
        let held = desk.holding(asset.at).await?;
        if held > U256::ZERO {
            calls.push(pay(&asset, to, held));
            gives.push((asset.at, held));
        }
    }
    if calls.is_empty() {
        // An empty wallet still says so on chain.
        calls.push(Call { to, value: U256::ZERO, data: vec![] });
    }
    Ok(deal(desk, calls, gives, vec![(Part::Recipient, to)]))
}

/// Somebody outside pays in.
pub(super) fn receive(desk: &Desk<'_>, tool: &Tool, args: &Args<'_>) -> Result<Deal, Fault> {
    let fixed = tool.via.takes.as_ref().map(|symbol| symbol.value.as_str());
    let asset = match (fixed, args.any_token()) {
        // A faucet gives the coin that pays for gas.
        (None, None) => desk.asset(&desk.registry().map(|chain| chain.native.clone()).unwrap_or_default())?,
        (Some(_), _) | (None, Some(_)) => main_asset(desk, fixed, args, &["asset"])?,
    };
    let amount = super::maybe_amount(desk, args, &asset)?.unwrap_or(U256::from(10).pow(U256::from(asset.decimals)));
    let mut deal = Deal::new(desk.id, Work::Inflow { asset: asset.at, amount });
    deal.parties.push((Part::Recipient, ACCOUNT));
    deal.tells.insert(
        "received".into(),
        json!({ "asset": asset.symbol, "amount": human(amount, asset.decimals), "from": KEEPER.to_checksum(None) }),
    );
    Ok(deal)
}

pub(super) fn approve(desk: &Desk<'_>, args: &Args<'_>) -> Result<Deal, Fault> {
    let asset = main_asset(desk, None, args, &["asset"])?;
    if asset.is_native() {
        return Err(Fault::new("VALIDATION_INVALID_ARGUMENTS", "the native coin needs no approval"));
    }
    // Nothing is a fine amount here: it takes an approval back.
    let value = match super::first_amount(args) {
        Some((name, kind, value)) => desk.amount(args, name, kind, value, &asset)?,
        None => U256::MAX,
    };
    let spender = match args.address("spender")? {
        Some(spender) => spender.address,
        None => desk.router()?,
    };
    let call = Call { to: asset.at, value: U256::ZERO, data: Erc20::approveCall { spender, value }.abi_encode() };
    Ok(deal(desk, vec![call], vec![], vec![(Part::Spender, spender), (Part::Asset, asset.at)]))
}

/// A list of `{ token, spender }`, or of one token's spenders.
pub(super) fn revoke(desk: &Desk<'_>, args: &Args<'_>) -> Result<Deal, Fault> {
    let rows = args.of_kind(|kind| matches!(kind, Kind::List(_))).find_map(|(_, _, value)| value.as_array()).cloned().unwrap_or_default();
    let mut calls = vec![];
    for row in &rows {
        let field = |name: &str| row.get(name).cloned().unwrap_or(Value::Null);
        let token = ["token", "token_address", "asset"].iter().map(|name| field(name)).find(|value| !value.is_null());
        let token = token.ok_or_else(|| Fault::new("VALIDATION_INVALID_ARGUMENTS", "an approval to revoke lacks its token"))?;
        let asset = desk.asset(&word(&token))?;
        let spender = address("spender", &field("spender"))?.address;
        calls.push(Call { to: asset.at, value: U256::ZERO, data: Erc20::approveCall { spender, value: U256::ZERO }.abi_encode() });
    }
    if calls.is_empty() {
        return Err(Fault::new("VALIDATION_INVALID_ARGUMENTS", "no approval to revoke was named"));
    }
    Ok(deal(desk, calls, vec![], vec![]))
}
