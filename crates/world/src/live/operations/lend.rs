//! Supplying to a venue and borrowing from it: lending, staking, margin, gauges. One contract plays them all.

use super::calls::{allow, call, plan, told, value_of};
use super::venue::{Position, debt_asset, from_holding, needed, own_asset, parties, position, something, stated};
use crate::chain::bindings::{Token, Venue};
use crate::chain::genesis::ACCOUNT;
use crate::live::args::{Args, word};
use crate::live::tool_error::{ToolError, shown};
use crate::live::tx_builder::{Asset, TxBuilder, human};
use crate::live::tx_plan::{Call, Part, TxPlan};
use alloy_primitives::{U256, hex};
use model::transcript::ToolErrorCode;
use model::{AddressRole, Kind, Tool};
use serde_json::json;

pub(super) async fn enter(builder: &mut TxBuilder<'_>, tool: &Tool, args: &Args<'_>) -> Result<TxPlan, ToolError> {
    if let Some(plan) = turned(builder, tool, args)? {
        return Ok(plan);
    }
    let at = position(builder, tool, args)?;
    let asset = own_asset(builder, tool, args, &at)?;
    let behalf = args.address(AddressRole::Recipient)?.map_or(ACCOUNT, |address| address.address);
    let amount = from_holding(builder, args, &asset).await?;
    let mut calls = vec![];
    put(builder, &mut calls, &at, tool, (&asset, amount)).await?;
    let mut plan = plan(builder, calls, vec![(asset.at, amount)], parties(behalf, &[&asset]));
    plan.outputs.insert("enters".into(), told(&asset, amount));
    plan.outputs.insert("credited".into(), json!(ACCOUNT.to_checksum(None)));
    if behalf != ACCOUNT {
        let note = format!("positions cannot be given away here: the account itself is credited, not {}", behalf.to_checksum(None));
        plan.outputs.insert("note".into(), json!(note));
    }
    Ok(plan)
}

pub(super) async fn put(
    builder: &mut TxBuilder<'_>,
    calls: &mut Vec<Call>,
    at: &Position,
    tool: &Tool,
    what: (&Asset, U256),
) -> Result<(), ToolError> {
    let (asset, amount) = what;
    allow(builder, calls, asset, at.venue, amount).await?;
    let enter = Venue::enterCall { market: at.market, asset: asset.at, amount, data: tool.name.as_bytes().to_vec().into() };
    calls.push(Call { value: value_of(asset, amount), ..call(at.venue, &enter) });
    Ok(())
}

/// Some tools go both ways: by a word, or by a change below nothing.
fn turned(builder: &TxBuilder<'_>, tool: &Tool, args: &Args<'_>) -> Result<Option<TxPlan>, ToolError> {
    match args.text("action").as_deref() {
        Some("unstake") => return exit(builder, tool, args).map(Some),
        Some("claim") => return claim(builder, tool, args).map(Some),
        Some(_) | None => {}
    }
    let less = args.amounts().filter(|(name, _, _)| name.ends_with("_delta"));
    let less = less.filter_map(|(name, kind, value)| word(value).strip_prefix('-').map(|text| (name, kind, json!(text)))).next();
    let Some((name, kind, value)) = less else { return Ok(None) };
    let at = position(builder, tool, args)?;
    let asset = own_asset(builder, tool, args, &at)?;
    let amount = something(name, builder.amount(args, name, kind, &value, &asset)?)?;
    Ok(Some(leave(builder, &at, &asset, amount)))
}

pub(super) fn exit(builder: &TxBuilder<'_>, tool: &Tool, args: &Args<'_>) -> Result<TxPlan, ToolError> {
    let at = position(builder, tool, args)?;
    let asset = own_asset(builder, tool, args, &at)?;
    let amount = stated(builder, args, &asset)?.unwrap_or(U256::MAX);
    Ok(leave(builder, &at, &asset, amount))
}

fn leave(builder: &TxBuilder<'_>, at: &Position, asset: &Asset, amount: U256) -> TxPlan {
    let exit = Venue::exitCall { market: at.market, asset: asset.at, amount, to: ACCOUNT };
    let mut plan = plan(builder, vec![call(at.venue, &exit)], vec![], parties(ACCOUNT, &[asset]));
    let amount = if amount == U256::MAX { "all".to_owned() } else { human(amount, asset.decimals) };
    plan.outputs.insert("takes_out".into(), json!({ "asset": asset.symbol, "amount": amount }));
    plan
}

pub(super) fn borrow(builder: &TxBuilder<'_>, tool: &Tool, args: &Args<'_>) -> Result<TxPlan, ToolError> {
    let at = position(builder, tool, args)?;
    let asset = debt_asset(builder, tool, args, &at)?;
    let amount = needed(builder, args, &asset)?;
    let borrow = Venue::borrowCall { market: at.market, asset: asset.at, amount, to: ACCOUNT };
    let mut plan = plan(builder, vec![call(at.venue, &borrow)], vec![], parties(ACCOUNT, &[&asset]));
    plan.outputs.insert("borrows".into(), told(&asset, amount));
    Ok(plan)
}

pub(super) async fn repay(builder: &mut TxBuilder<'_>, tool: &Tool, args: &Args<'_>) -> Result<TxPlan, ToolError> {
    let at = position(builder, tool, args)?;
    let asset = debt_asset(builder, tool, args, &at)?;
    let stated = stated(builder, args, &asset)?.ok_or_else(|| ToolError::new(ToolErrorCode::InvalidAmount, "the call names no amount"))?;
    let owed = owed(builder, &at, &asset).await?;
    // Never more than the debt: what is allowed beyond it would stay allowed.
    let amount = stated.min(owed);
    let mut calls = vec![];
    pay_back(builder, &mut calls, &at, &asset, amount).await?;
    let mut plan = plan(builder, calls, vec![(asset.at, amount)], parties(ACCOUNT, &[&asset]));
    plan.outputs.insert("repays".into(), told(&asset, amount));
    plan.outputs.insert("still_owed".into(), told(&asset, owed - amount));
    Ok(plan)
}

pub(super) async fn owed(builder: &mut TxBuilder<'_>, at: &Position, asset: &Asset) -> Result<U256, ToolError> {
    builder.read(at.venue, &Venue::borrowedCall { account: ACCOUNT, market: at.market, asset: asset.at }).await
}

pub(super) async fn pay_back(
    builder: &mut TxBuilder<'_>,
    calls: &mut Vec<Call>,
    at: &Position,
    asset: &Asset,
    amount: U256,
) -> Result<(), ToolError> {
    allow(builder, calls, asset, at.venue, amount).await?;
    let repay = Venue::repayCall { market: at.market, asset: asset.at, amount };
    calls.push(Call { value: value_of(asset, amount), ..call(at.venue, &repay) });
    Ok(())
}

pub(super) fn claim(builder: &TxBuilder<'_>, tool: &Tool, args: &Args<'_>) -> Result<TxPlan, ToolError> {
    let at = position(builder, tool, args)?;
    let asset = own_asset(builder, tool, args, &at)?;
    let claim = Venue::claimCall { market: at.market, asset: asset.at, to: ACCOUNT };
    let mut plan = plan(builder, vec![call(at.venue, &claim)], vec![], parties(ACCOUNT, &[&asset]));
    plan.outputs.insert("claims".into(), json!({ "asset": asset.symbol }));
    Ok(plan)
}

/// The account has no hook of its own: it borrows and gives back, and the calldata goes along for the record.
pub(super) fn flash(builder: &TxBuilder<'_>, tool: &Tool, args: &Args<'_>) -> Result<TxPlan, ToolError> {
    let at = position(builder, tool, args)?;
    let asset = own_asset(builder, tool, args, &at)?;
    if asset.is_native() {
        return Err(ToolError::new(ToolErrorCode::InvalidArguments, "a flash loan is of a token, not of the native coin"));
    }
    let amount = needed(builder, args, &asset)?;
    let text = args.first(|kind| matches!(kind, Kind::Data)).map(|(_, value)| word(value)).unwrap_or_default();
    let data = hex::decode(&text).map_err(|_| ToolError::new(ToolErrorCode::InvalidArguments, format!("{} is not hex", shown(&text))))?;
    let back = call(asset.at, &Token::approveCall { spender: at.venue, value: amount });
    let flash = call(at.venue, &Venue::flashCall { market: at.market, asset: asset.at, amount, data: data.into() });
    let mut plan = plan(builder, vec![back, flash], vec![], parties(ACCOUNT, &[&asset]));
    plan.parties.push((Part::Spender, at.venue));
    plan.outputs.insert("flash_loan".into(), told(&asset, amount));
    Ok(plan)
}
