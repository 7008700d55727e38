//! Transfers, sweeps, inflows, approvals and revocations.

use super::amounts::{amount, first_amount, optional_amount};
use super::assets::main_asset;
use super::calls::{plan, value_of};
use crate::chain::bindings::Token;
use crate::chain::genesis::{ACCOUNT, KEEPER};
use crate::live::args::{ToolArgs, address, scalar_text};
use crate::live::tool_error::ToolError;
use crate::live::tx_builder::{AssetInfo, TxBuilder, human};
use crate::live::tx_plan::{ContractCall, PartyRole, PlanKind, TxPlan};
use alloy_primitives::{Address, U256};
use alloy_sol_types::SolCall;
use model::transcript::ToolErrorCode;
use model::{AddressRole, ParamKind, TokenRole, Tool};
use serde_json::{Value, json};

pub(super) fn send(builder: &TxBuilder<'_>, args: &ToolArgs<'_>) -> Result<TxPlan, ToolError> {
    let asset = main_asset(builder, None, args, &[TokenRole::Asset])?;
    let amount = amount(builder, args, &asset)?;
    let to = args
        .address(AddressRole::Recipient)?
        .ok_or_else(|| ToolError::new(ToolErrorCode::InvalidAddress, "no recipient specified"))?
        .address;
    let mut plan = plan(
        builder,
        vec![pay(&asset, to, amount)],
        vec![(asset.at, amount)],
        vec![(PartyRole::Recipient, to), (PartyRole::Asset, asset.at)],
    );
    plan.outputs
        .insert("sent".into(), json!({ "asset": asset.symbol, "amount": human(amount, asset.decimals), "to": to.to_checksum(None) }));
    Ok(plan)
}

fn pay(asset: &AssetInfo, to: Address, amount: U256) -> ContractCall {
    if asset.is_native() {
        return ContractCall { to, value: amount, data: vec![] };
    }
    ContractCall { to: asset.at, value: value_of(asset, U256::ZERO), data: Token::transferCall { to, value: amount }.abi_encode() }
}

/// Plans transfers of the full balance of the listed tokens, or of all registered ones.
pub(super) async fn sweep(builder: &mut TxBuilder<'_>, args: &ToolArgs<'_>) -> Result<TxPlan, ToolError> {
    let to = args
        .address(AddressRole::Recipient)?
        .ok_or_else(|| ToolError::new(ToolErrorCode::InvalidAddress, "no destination specified"))?
        .address;
    let wanted: Option<Vec<AssetInfo>> = args
        .first(|kind| matches!(kind, ParamKind::List(inner) if matches!(**inner, ParamKind::Token(_))))
        .and_then(|(_, value)| value.as_array())
        .map(|items| items.iter().map(|item| builder.asset(&scalar_text(item))).collect::<Result<_, _>>())
        .transpose()?;
    let assets = match wanted {
        Some(assets) => assets,
        None => {
            let symbols: Vec<String> =
                builder.registry().map(|chain| chain.tokens.iter().map(|token| token.symbol.value.clone()).collect()).unwrap_or_default();
            symbols.iter().map(|symbol| builder.asset(symbol)).collect::<Result<_, _>>()?
        }
    };
    let (mut calls, mut outflows) = (vec![], vec![]);
    for asset in assets {
        let held = builder.own_balance(asset.at).await?;
        if held > U256::ZERO {
            calls.push(pay(&asset, to, held));
            outflows.push((asset.at, held));
        }
    }
    if calls.is_empty() {
        // Without balances, an empty call keeps the plan executable.
        calls.push(ContractCall { to, value: U256::ZERO, data: vec![] });
    }
    Ok(plan(builder, calls, outflows, vec![(PartyRole::Recipient, to)]))
}

/// Plans an inflow from outside.
pub(super) fn receive(builder: &TxBuilder<'_>, tool: &Tool, args: &ToolArgs<'_>) -> Result<TxPlan, ToolError> {
    let fixed = tool.via.takes.as_ref().map(|symbol| symbol.value.as_str());
    let asset = match (fixed, args.any_token()) {
        // A faucet sends the native coin.
        (None, None) => builder.asset(&builder.registry().map(|chain| chain.native.clone()).unwrap_or_default())?,
        (Some(_), _) | (None, Some(_)) => main_asset(builder, fixed, args, &[TokenRole::Asset])?,
    };
    let amount = optional_amount(builder, args, &asset)?.unwrap_or(U256::from(10).pow(U256::from(asset.decimals)));
    let mut plan = TxPlan::new(builder.id, PlanKind::Inflow { asset: asset.at, amount });
    plan.parties.push((PartyRole::Recipient, ACCOUNT));
    plan.outputs.insert(
        "received".into(),
        json!({ "asset": asset.symbol, "amount": human(amount, asset.decimals), "from": KEEPER.to_checksum(None) }),
    );
    Ok(plan)
}

pub(super) fn approve(builder: &TxBuilder<'_>, args: &ToolArgs<'_>) -> Result<TxPlan, ToolError> {
    let asset = main_asset(builder, None, args, &[TokenRole::Asset])?;
    if asset.is_native() {
        return Err(ToolError::new(ToolErrorCode::InvalidArguments, "the native coin needs no approval"));
    }
    // Zero is allowed: it revokes the approval. No amount means unlimited.
    let value = match first_amount(args) {
        Some((name, kind, value)) => builder.amount(args, name, kind, value, &asset)?,
        None => U256::MAX,
    };
    let spender = match args.address(AddressRole::Spender)? {
        Some(spender) => spender.address,
        None => builder.router()?,
    };
    let call = ContractCall { to: asset.at, value: U256::ZERO, data: Token::approveCall { spender, value }.abi_encode() };
    Ok(plan(builder, vec![call], vec![], vec![(PartyRole::Spender, spender), (PartyRole::Asset, asset.at)]))
}

/// Plans revocations from a list of `{ token, spender }`.
pub(super) fn revoke(builder: &TxBuilder<'_>, args: &ToolArgs<'_>) -> Result<TxPlan, ToolError> {
    let rows =
        args.of_kind(|kind| matches!(kind, ParamKind::List(_))).find_map(|(_, _, value)| value.as_array()).cloned().unwrap_or_default();
    let mut calls = vec![];
    for row in &rows {
        let field = |name: &str| row.get(name).cloned().unwrap_or(Value::Null);
        let token = ["token", "token_address", "asset"].iter().map(|name| field(name)).find(|value| !value.is_null());
        let token = token.ok_or_else(|| ToolError::new(ToolErrorCode::InvalidArguments, "an approval to revoke has no token"))?;
        let asset = builder.asset(&scalar_text(&token))?;
        let spender = address("spender", &field("spender"))?.address;
        calls.push(ContractCall { to: asset.at, value: U256::ZERO, data: Token::approveCall { spender, value: U256::ZERO }.abi_encode() });
    }
    if calls.is_empty() {
        return Err(ToolError::new(ToolErrorCode::InvalidArguments, "no approvals to revoke specified"));
    }
    Ok(plan(builder, calls, vec![], vec![]))
}
