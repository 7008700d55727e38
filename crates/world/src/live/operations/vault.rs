//! Single-asset vaults: deposits, and redemptions of shares.

use super::amounts::{amount, first_amount, resolve_max};
use super::calls::{amount_json, approve_if_needed, contract_call, plan};
use crate::chain::bindings::Vault;
use crate::chain::genesis::ACCOUNT;
use crate::live::args::{ToolArgs, address, scalar_text};
use crate::live::tool_error::{ToolError, quote_value};
use crate::live::tx_builder::{AssetInfo, TxBuilder, human};
use crate::live::tx_plan::{PartyRole, TxPlan};
use alloy_primitives::U256;
use model::transcript::ToolErrorCode;
use model::{AddressRole, AmountUnit, IdKind, ParamKind};
use serde_json::json;

/// Returns the share token of the vault that a call names.
fn named_vault(builder: &TxBuilder<'_>, args: &ToolArgs<'_>) -> Result<AssetInfo, ToolError> {
    let named = args.first(|kind| matches!(kind, ParamKind::Address(AddressRole::Vault) | ParamKind::Id(IdKind::Vault)));
    let (name, value) = named.ok_or_else(|| ToolError::new(ToolErrorCode::InvalidArguments, "no vault specified"))?;
    let at = address(name, value)?.address;
    let entry = builder.book.get(at).filter(|entry| entry.contract == Some("Vault"));
    let share = entry.and_then(|entry| entry.asset.clone()).map(|(symbol, decimals)| AssetInfo { at, symbol, decimals });
    share.ok_or_else(|| {
        ToolError::new(ToolErrorCode::NotFound, format!("{} is not a vault on chain {}", quote_value(&scalar_text(value)), builder.id))
    })
}

/// Reads the underlying asset from the vault itself.
async fn asset_of(builder: &mut TxBuilder<'_>, vault: &AssetInfo) -> Result<AssetInfo, ToolError> {
    let at = builder.read(vault.at, &Vault::assetCall {}).await?;
    builder.asset(&at.to_checksum(None))
}

pub(super) async fn deposit(builder: &mut TxBuilder<'_>, args: &ToolArgs<'_>) -> Result<TxPlan, ToolError> {
    let vault = named_vault(builder, args)?;
    let asset = asset_of(builder, &vault).await?;
    let stated = amount(builder, args, &asset)?;
    let assets = resolve_max(builder, &asset, stated).await?;
    if assets.is_zero() {
        return Err(ToolError::new(ToolErrorCode::TxRefused, format!("the account holds no {}", asset.symbol)));
    }
    let shares = builder.read(vault.at, &Vault::previewDepositCall { assets }).await?;
    let mut calls = vec![];
    approve_if_needed(builder, &mut calls, &asset, vault.at, assets).await?;
    calls.push(contract_call(vault.at, &Vault::depositCall { assets, receiver: ACCOUNT }));
    let mut plan = plan(builder, calls, vec![(asset.at, assets)], vec![(PartyRole::Recipient, ACCOUNT), (PartyRole::Asset, asset.at)]);
    plan.outputs.insert("deposits".into(), amount_json(&asset, assets));
    plan.outputs.insert("expected_shares".into(), json!(human(shares, vault.decimals)));
    Ok(plan)
}

pub(super) async fn redeem(builder: &mut TxBuilder<'_>, args: &ToolArgs<'_>) -> Result<TxPlan, ToolError> {
    let vault = named_vault(builder, args)?;
    let asset = asset_of(builder, &vault).await?;
    let shares = shares(builder, args, &vault).await?;
    let assets = builder.read(vault.at, &Vault::previewRedeemCall { shares }).await?;
    let redeem = contract_call(vault.at, &Vault::redeemCall { shares, receiver: ACCOUNT, owner_: ACCOUNT });
    let mut plan = plan(builder, vec![redeem], vec![], vec![(PartyRole::Recipient, ACCOUNT), (PartyRole::Asset, asset.at)]);
    plan.outputs.insert("redeems".into(), amount_json(&vault, shares));
    plan.outputs.insert("expected_assets".into(), amount_json(&asset, assets));
    Ok(plan)
}

/// Returns the shares to redeem: a percentage of the balance, a stated number, or all.
async fn shares(builder: &mut TxBuilder<'_>, args: &ToolArgs<'_>, vault: &AssetInfo) -> Result<U256, ToolError> {
    if let Some(bps) = percent_bps(args) {
        return Ok(builder.own_balance(vault.at).await?.saturating_mul(U256::from(bps)) / U256::from(10_000));
    }
    let in_shares = args.amounts().find(|(_, kind, _)| matches!(kind, ParamKind::Amount { unit: AmountUnit::Shares, .. }));
    // A withdrawal preview states its amount in shares too.
    let stated = in_shares.or_else(|| first_amount(args));
    let stated = stated.map(|(name, kind, value)| builder.amount(args, name, kind, value, vault)).transpose()?;
    resolve_max(builder, vault, stated.unwrap_or(U256::MAX)).await
}

/// Returns the percentage argument in bps, at most 10,000.
pub(super) fn percent_bps(args: &ToolArgs<'_>) -> Option<u64> {
    let (_, value) = args.first(|kind| matches!(kind, ParamKind::Percent))?;
    // Clamped to 10,000, so it fits; a value that is not a number counts as zero.
    Some((value.as_f64().unwrap_or(0.0) * 100.0).round().clamp(0.0, 10_000.0) as u64)
}
