//! Supplies to a venue and borrows from it: lending, staking, margin and gauges, all through the `Venue` contract.

use super::calls::{amount_json, approve_if_needed, contract_call, plan, value_of};
use super::venue::{
    VenueMarket, debt_asset, from_holding, parties, require_amount, require_nonzero, stated_amount, supply_asset, venue_market,
};
use crate::chain::bindings::{Token, Venue};
use crate::chain::genesis::ACCOUNT;
use crate::live::args::{ToolArgs, scalar_text};
use crate::live::tool_error::{ToolError, quote_value};
use crate::live::tx_builder::{AssetInfo, TxBuilder, human};
use crate::live::tx_plan::{ContractCall, PartyRole, TxPlan};
use alloy_primitives::{U256, hex};
use model::transcript::ToolErrorCode;
use model::{AddressRole, ParamKind, Tool};
use serde_json::json;

pub(super) async fn enter(builder: &mut TxBuilder<'_>, tool: &Tool, args: &ToolArgs<'_>) -> Result<TxPlan, ToolError> {
    if let Some(plan) = plan_opposite(builder, tool, args)? {
        return Ok(plan);
    }
    let at = venue_market(builder, tool, args)?;
    let asset = supply_asset(builder, tool, args, &at)?;
    require_own_credit(builder, args)?;
    let amount = from_holding(builder, args, &asset).await?;
    let mut calls = vec![];
    supply_calls(builder, &mut calls, &at, tool, (&asset, amount)).await?;
    let mut plan = plan(builder, calls, vec![(asset.at, amount)], parties(ACCOUNT, &[&asset]));
    plan.outputs.insert("enters".into(), amount_json(&asset, amount));
    plan.outputs.insert("credited".into(), json!(ACCOUNT.to_checksum(None)));
    Ok(plan)
}

/// Fails if a deposit is to be credited to another party. The venue credits its caller, and a deposit that is credited to the account although
/// the call names another would make a payment to a stranger look like a deposit.
fn require_own_credit(builder: &TxBuilder<'_>, args: &ToolArgs<'_>) -> Result<(), ToolError> {
    let Some(behalf) = args.address(AddressRole::Recipient)?.map(|address| address.address) else { return Ok(()) };
    if builder.book.own_addresses().contains(&behalf) {
        return Ok(());
    }
    let why = format!("deposits are credited to the account that pays; crediting {} is not supported", behalf.to_checksum(None));
    Err(ToolError::new(ToolErrorCode::InvalidArguments, why))
}

pub(super) async fn supply_calls(
    builder: &mut TxBuilder<'_>,
    calls: &mut Vec<ContractCall>,
    at: &VenueMarket,
    tool: &Tool,
    what: (&AssetInfo, U256),
) -> Result<(), ToolError> {
    let (asset, amount) = what;
    approve_if_needed(builder, calls, asset, at.venue, amount).await?;
    let enter = Venue::enterCall { market: at.market, asset: asset.at, amount, data: tool.name.as_bytes().to_vec().into() };
    calls.push(ContractCall { value: value_of(asset, amount), ..contract_call(at.venue, &enter) });
    Ok(())
}

/// Plans an exit or claim if `action` or a negative `*_delta` asks for it.
fn plan_opposite(builder: &TxBuilder<'_>, tool: &Tool, args: &ToolArgs<'_>) -> Result<Option<TxPlan>, ToolError> {
    match args.text("action").as_deref() {
        Some("unstake") => return exit(builder, tool, args).map(Some),
        Some("claim") => return claim(builder, tool, args).map(Some),
        Some(_) | None => {}
    }
    let less = args.amounts().filter(|(name, _, _)| name.ends_with("_delta"));
    let less = less.filter_map(|(name, kind, value)| scalar_text(value).strip_prefix('-').map(|text| (name, kind, json!(text)))).next();
    let Some((name, kind, value)) = less else { return Ok(None) };
    let at = venue_market(builder, tool, args)?;
    let asset = supply_asset(builder, tool, args, &at)?;
    let amount = require_nonzero(name, builder.amount(args, name, kind, &value, &asset)?)?;
    Ok(Some(plan_exit(builder, &at, &asset, amount)))
}

pub(super) fn exit(builder: &TxBuilder<'_>, tool: &Tool, args: &ToolArgs<'_>) -> Result<TxPlan, ToolError> {
    let at = venue_market(builder, tool, args)?;
    let asset = supply_asset(builder, tool, args, &at)?;
    let amount = stated_amount(builder, args, &asset)?.unwrap_or(U256::MAX);
    Ok(plan_exit(builder, &at, &asset, amount))
}

fn plan_exit(builder: &TxBuilder<'_>, at: &VenueMarket, asset: &AssetInfo, amount: U256) -> TxPlan {
    let exit = Venue::exitCall { market: at.market, asset: asset.at, amount, to: ACCOUNT };
    let mut plan = plan(builder, vec![contract_call(at.venue, &exit)], vec![], parties(ACCOUNT, &[asset]));
    let amount = if amount == U256::MAX { "all".to_owned() } else { human(amount, asset.decimals) };
    plan.outputs.insert("takes_out".into(), json!({ "asset": asset.symbol, "amount": amount }));
    plan
}

pub(super) fn borrow(builder: &TxBuilder<'_>, tool: &Tool, args: &ToolArgs<'_>) -> Result<TxPlan, ToolError> {
    let at = venue_market(builder, tool, args)?;
    let asset = debt_asset(builder, tool, args, &at)?;
    let amount = require_amount(builder, args, &asset)?;
    let borrow = Venue::borrowCall { market: at.market, asset: asset.at, amount, to: ACCOUNT };
    let mut plan = plan(builder, vec![contract_call(at.venue, &borrow)], vec![], parties(ACCOUNT, &[&asset]));
    plan.outputs.insert("borrows".into(), amount_json(&asset, amount));
    Ok(plan)
}

pub(super) async fn repay(builder: &mut TxBuilder<'_>, tool: &Tool, args: &ToolArgs<'_>) -> Result<TxPlan, ToolError> {
    let at = venue_market(builder, tool, args)?;
    let asset = debt_asset(builder, tool, args, &at)?;
    let stated =
        stated_amount(builder, args, &asset)?.ok_or_else(|| ToolError::new(ToolErrorCode::InvalidAmount, "no amount specified"))?;
    let owed = debt_of(builder, &at, &asset).await?;
    // At most the debt: a larger approval would leave an allowance behind.
    let amount = stated.min(owed);
    let mut calls = vec![];
    repay_calls(builder, &mut calls, &at, &asset, amount).await?;
    let mut plan = plan(builder, calls, vec![(asset.at, amount)], parties(ACCOUNT, &[&asset]));
    plan.outputs.insert("repays".into(), amount_json(&asset, amount));
    plan.outputs.insert("still_owed".into(), amount_json(&asset, owed - amount));
    Ok(plan)
}

pub(super) async fn debt_of(builder: &mut TxBuilder<'_>, at: &VenueMarket, asset: &AssetInfo) -> Result<U256, ToolError> {
    builder.read(at.venue, &Venue::borrowedCall { account: ACCOUNT, market: at.market, asset: asset.at }).await
}

pub(super) async fn repay_calls(
    builder: &mut TxBuilder<'_>,
    calls: &mut Vec<ContractCall>,
    at: &VenueMarket,
    asset: &AssetInfo,
    amount: U256,
) -> Result<(), ToolError> {
    approve_if_needed(builder, calls, asset, at.venue, amount).await?;
    let repay = Venue::repayCall { market: at.market, asset: asset.at, amount };
    calls.push(ContractCall { value: value_of(asset, amount), ..contract_call(at.venue, &repay) });
    Ok(())
}

pub(super) fn claim(builder: &TxBuilder<'_>, tool: &Tool, args: &ToolArgs<'_>) -> Result<TxPlan, ToolError> {
    let at = venue_market(builder, tool, args)?;
    let asset = supply_asset(builder, tool, args, &at)?;
    let claim = Venue::claimCall { market: at.market, asset: asset.at, to: ACCOUNT };
    let mut plan = plan(builder, vec![contract_call(at.venue, &claim)], vec![], parties(ACCOUNT, &[&asset]));
    plan.outputs.insert("claims".into(), json!({ "asset": asset.symbol }));
    Ok(plan)
}

/// Plans a flash loan. The account has no callback, so the loan is repaid at once and `data` is only recorded.
pub(super) fn flash(builder: &TxBuilder<'_>, tool: &Tool, args: &ToolArgs<'_>) -> Result<TxPlan, ToolError> {
    let at = venue_market(builder, tool, args)?;
    let asset = supply_asset(builder, tool, args, &at)?;
    if asset.is_native() {
        return Err(ToolError::new(ToolErrorCode::InvalidArguments, "flash loans are not available for the native coin"));
    }
    let amount = require_amount(builder, args, &asset)?;
    let text = args.first(|kind| matches!(kind, ParamKind::Data)).map(|(_, value)| scalar_text(value)).unwrap_or_default();
    let data = hex::decode(&text)
        .map_err(|_| ToolError::new(ToolErrorCode::InvalidArguments, format!("{} is not valid hex", quote_value(&text))))?;
    let back = contract_call(asset.at, &Token::approveCall { spender: at.venue, value: amount });
    let flash = contract_call(at.venue, &Venue::flashCall { market: at.market, asset: asset.at, amount, data: data.into() });
    let mut plan = plan(builder, vec![back, flash], vec![], parties(ACCOUNT, &[&asset]));
    plan.parties.push((PartyRole::Spender, at.venue));
    plan.outputs.insert("flash_loan".into(), amount_json(&asset, amount));
    Ok(plan)
}
