//! Pool liquidity: add, remove and reposition.

use super::assets::named_assets;
use super::calls::{approve_if_needed, plan, value_of};
use super::swap::DEADLINE_S;
use crate::chain::bindings::{AmmPair, AmmRouter};
use crate::chain::genesis::ACCOUNT;
use crate::live::args::ToolArgs;
use crate::live::tool_error::ToolError;
use crate::live::tx_builder::{AssetInfo, TxBuilder, human};
use crate::live::tx_plan::{ContractCall, FollowUp, PartyRole, TxPlan};
use alloy_primitives::{Address, U256};
use alloy_sol_types::SolCall;
use model::transcript::ToolErrorCode;
use model::{AmountUnit, ParamKind, TokenRole};
use serde_json::{Value, json};

/// Returns the assets of the pool: two named tokens, or those of a named position, pool or market.
fn pool_assets(builder: &TxBuilder<'_>, args: &ToolArgs<'_>) -> Result<(AssetInfo, AssetInfo), ToolError> {
    if let (Some(a), Some(b)) = (args.token(TokenRole::A), args.token(TokenRole::B)) {
        return Ok((builder.asset(&a)?, builder.asset(&b)?));
    }
    let listed = args
        .first(|kind| matches!(kind, ParamKind::List(inner) if matches!(**inner, ParamKind::Token(_))))
        .and_then(|(_, value)| value.as_array());
    if let Some([a, b, ..]) = listed.map(Vec::as_slice) {
        return Ok((builder.asset(&crate::live::args::scalar_text(a))?, builder.asset(&crate::live::args::scalar_text(b))?));
    }
    let mut assets = named_assets(builder, args)?.into_iter();
    match (assets.next(), assets.next()) {
        (Some(a), Some(b)) => Ok((a, b)),
        // Single-asset vaults and markets use the pool of that asset with USDC, or of USDC with WETH.
        (Some(only), None) => {
            let other = if only.symbol == "USDC" { "WETH" } else { "USDC" };
            Ok((only, builder.asset(other)?))
        }
        (None, Some(_) | None) => Err(ToolError::new(ToolErrorCode::NotFound, "no pool found for this position")),
    }
}

/// Returns the reserves, that of `a` first, and the total supply of shares.
async fn reserves(builder: &mut TxBuilder<'_>, pair: Address, a: &AssetInfo) -> Result<(U256, U256, U256), ToolError> {
    let first = builder.read(pair, &AmmPair::token0Call {}).await?;
    let reserves = builder.read(pair, &AmmPair::getReservesCall {}).await?;
    let all = builder.read(pair, &AmmPair::totalSupplyCall {}).await?;
    let (zero, one) = (U256::from(reserves.reserve0), U256::from(reserves.reserve1));
    let wrapped = if a.is_native() { builder.asset(&format!("W{}", a.symbol)).map(|asset| asset.at).unwrap_or(a.at) } else { a.at };
    Ok(if first == wrapped { (zero, one, all) } else { (one, zero, all) })
}

pub(super) async fn add(builder: &mut TxBuilder<'_>, args: &ToolArgs<'_>) -> Result<TxPlan, ToolError> {
    let (a, b) = pool_assets(builder, args)?;
    let pair = builder.pair(&a, &b)?;
    let (reserve_a, reserve_b, _) = reserves(builder, pair, &a).await?;
    let (amount_a, amount_b) = amounts(builder, args, &a, &b)?;
    // A single amount is matched at the pool's price.
    let (amount_a, amount_b) = match (amount_a, amount_b) {
        (Some(x), Some(y)) => (x, y),
        (Some(x), None) => (x, x * reserve_b / reserve_a),
        (None, Some(y)) => (y * reserve_a / reserve_b, y),
        (None, None) => return Err(ToolError::new(ToolErrorCode::InvalidAmount, "no amount specified")),
    };
    if amount_a.is_zero() || amount_b.is_zero() {
        return Err(ToolError::new(ToolErrorCode::InvalidAmount, "amount must be greater than zero"));
    }
    let router = builder.router()?;
    let mut calls = vec![];
    add_liquidity_calls(builder, &mut calls, router, (&a, amount_a), (&b, amount_b)).await?;
    let mut plan = plan(
        builder,
        calls,
        vec![(a.at, amount_a), (b.at, amount_b)],
        vec![(PartyRole::Recipient, ACCOUNT), (PartyRole::Asset, a.at), (PartyRole::Asset, b.at)],
    );
    plan.outputs.insert("adds".into(), json!([{ "asset": a.symbol, "at_most": human(amount_a, a.decimals) }, { "asset": b.symbol, "at_most": human(amount_b, b.decimals) }]));
    plan.follow_up = Some(FollowUp::Position { assets: vec![a.symbol, b.symbol] });
    Ok(plan)
}

async fn add_liquidity_calls(
    builder: &mut TxBuilder<'_>,
    calls: &mut Vec<ContractCall>,
    router: Address,
    a: (&AssetInfo, U256),
    b: (&AssetInfo, U256),
) -> Result<(), ToolError> {
    approve_if_needed(builder, calls, a.0, router, a.1).await?;
    approve_if_needed(builder, calls, b.0, router, b.1).await?;
    let add = AmmRouter::addLiquidityCall {
        tokenA: a.0.at,
        tokenB: b.0.at,
        desiredA: a.1,
        desiredB: b.1,
        minA: U256::ZERO,
        minB: U256::ZERO,
        to: ACCOUNT,
        deadline: U256::from(builder.unix_s + DEADLINE_S),
    };
    calls.push(ContractCall { to: router, value: value_of(a.0, a.1) + value_of(b.0, b.1), data: add.abi_encode() });
    Ok(())
}

/// Returns the stated amount of each side: `amount0`/`amount1`, a list, or one amount of the first.
fn amounts(builder: &TxBuilder<'_>, args: &ToolArgs<'_>, a: &AssetInfo, b: &AssetInfo) -> Result<(Option<U256>, Option<U256>), ToolError> {
    let listed = args.of_kind(|kind| matches!(kind, ParamKind::List(inner) if matches!(**inner, ParamKind::Amount { .. }))).next();
    if let Some((name, ParamKind::List(inner), Value::Array(items))) = listed {
        let read = |item: Option<&Value>, asset: &AssetInfo| item.map(|item| builder.amount(args, name, inner, item, asset)).transpose();
        return Ok((read(items.first(), a)?, read(items.get(1), b)?));
    }
    let mut found =
        args.amounts().filter(|(_, kind, _)| !matches!(kind, ParamKind::Amount { unit: AmountUnit::Shares | AmountUnit::Usd, .. }));
    let mut sides = (None, None);
    for (name, kind, value) in &mut found {
        let second = name.ends_with('1') || name.ends_with("_b");
        let asset = if second { b } else { a };
        let amount = builder.amount(args, name, kind, value, asset)?;
        if second {
            sides.1 = Some(amount)
        } else if sides.0.is_none() {
            sides.0 = Some(amount)
        }
    }
    Ok(sides)
}

pub(super) async fn remove(builder: &mut TxBuilder<'_>, args: &ToolArgs<'_>) -> Result<TxPlan, ToolError> {
    let (a, b) = pool_assets(builder, args)?;
    let pair = builder.pair(&a, &b)?;
    let shares = shares(builder, args, pair).await?;
    let (calls, _) = remove_liquidity_calls(builder, (&a, &b), pair, shares).await?;
    let mut plan = plan(builder, calls, vec![], vec![(PartyRole::Recipient, ACCOUNT)]);
    plan.outputs.insert("removes".into(), json!({ "pool": pair.to_checksum(None), "shares": human(shares, 18) }));
    Ok(plan)
}

/// Removes liquidity and adds it again in one transaction.
pub(super) async fn reposition(builder: &mut TxBuilder<'_>, args: &ToolArgs<'_>) -> Result<TxPlan, ToolError> {
    let (a, b) = pool_assets(builder, args)?;
    let pair = builder.pair(&a, &b)?;
    let shares = shares(builder, args, pair).await?;
    let (mut calls, (out_a, out_b)) = remove_liquidity_calls(builder, (&a, &b), pair, shares).await?;
    // Slightly less than is removed, since the pool rounds in its favour.
    let less = |amount: U256| amount * U256::from(9_990) / U256::from(10_000);
    if !less(out_a).is_zero() && !less(out_b).is_zero() {
        add_liquidity_calls(builder, &mut calls, builder.router()?, (&a, less(out_a)), (&b, less(out_b))).await?;
    }
    let mut plan = plan(builder, calls, vec![], vec![(PartyRole::Recipient, ACCOUNT)]);
    plan.outputs.insert("moves".into(), json!({ "pool": pair.to_checksum(None), "shares": human(shares, 18) }));
    Ok(plan)
}

/// Returns the shares to remove: a percentage of the balance, a stated number, or all.
async fn shares(builder: &mut TxBuilder<'_>, args: &ToolArgs<'_>, pair: Address) -> Result<U256, ToolError> {
    let held = builder.own_balance(pair).await?;
    if let Some(percent) = args.first(|kind| matches!(kind, ParamKind::Percent)).and_then(|(_, value)| value.as_f64()) {
        let bps = (percent * 100.0).clamp(0.0, 10_000.0);
        // Clamped to 10,000, so it fits.
        return Ok(held * U256::from(bps as u64) / U256::from(10_000));
    }
    let stated = args.amounts().find(|(_, kind, _)| matches!(kind, ParamKind::Amount { unit: AmountUnit::Shares, .. }));
    let Some((name, _, value)) = stated else { return Ok(held) };
    let text = crate::live::args::scalar_text(value);
    if matches!(text.as_str(), "all" | "max") { Ok(held) } else { crate::live::args::parse_amount(name, &text, 18) }
}

async fn remove_liquidity_calls(
    builder: &mut TxBuilder<'_>,
    sides: (&AssetInfo, &AssetInfo),
    pair: Address,
    shares: U256,
) -> Result<(Vec<ContractCall>, (U256, U256)), ToolError> {
    let (a, b) = sides;
    let (reserve_a, reserve_b, all) = reserves(builder, pair, a).await?;
    let part = |reserve: U256| if all.is_zero() { U256::ZERO } else { reserve * shares / all };
    let (out_a, out_b) = (part(reserve_a), part(reserve_b));
    let router = builder.router()?;
    let share = AssetInfo { at: pair, symbol: String::new(), decimals: 18 };
    let mut calls = vec![];
    approve_if_needed(builder, &mut calls, &share, router, shares).await?;
    let least = |amount: U256| amount * U256::from(9_950) / U256::from(10_000);
    let call = AmmRouter::removeLiquidityCall {
        tokenA: a.at,
        tokenB: b.at,
        shares,
        minA: least(out_a),
        minB: least(out_b),
        to: ACCOUNT,
        deadline: U256::from(builder.unix_s + DEADLINE_S),
    };
    calls.push(ContractCall { to: router, value: U256::ZERO, data: call.abi_encode() });
    Ok((calls, (out_a, out_b)))
}
