//! Vaults of one asset: putting it in, and taking it out by shares.

use super::{all_of, allow, amount, deal};
use crate::chain::genesis::ACCOUNT;
use crate::live::args::{Args, address, word};
use crate::live::deal::{Call, Deal, Part};
use crate::live::desk::{Asset, Desk, human};
use crate::live::fault::{Fault, shown};
use alloy_primitives::{Address, U256};
use alloy_sol_types::{SolCall, sol};
use model::{Kind, Unit};
use serde_json::{Value, json};

sol! {
    interface Vaults {
        function deposit(uint256 assets, address receiver) external returns (uint256);
        function redeem(uint256 shares, address receiver, address owner) external returns (uint256);
        function asset() external view returns (address);
        function previewDeposit(uint256 assets) external view returns (uint256);
        function previewRedeem(uint256 shares) external view returns (uint256);
    }
}

/// The vault a call names, as its share token.
fn named_vault(desk: &Desk<'_>, args: &Args<'_>) -> Result<Asset, Fault> {
    let named = args.first(|kind| matches!(kind, Kind::Address(role) | Kind::Id(role) if role == "vault"));
    let (name, value) = named.ok_or_else(|| Fault::new("VALIDATION_INVALID_ARGUMENTS", "the call names no vault"))?;
    let at = address(name, value)?.address;
    let entry = desk.book.get(at).filter(|entry| entry.contract == Some("Vault"));
    let share = entry.and_then(|entry| entry.asset.clone()).map(|(symbol, decimals)| Asset { at, symbol, decimals });
    share.ok_or_else(|| Fault::new("DATA_NOT_FOUND", format!("{} is no vault of chain {}", shown(&word(value)), desk.id)))
}

/// Asked of the vault itself: what others say of it may be wrong.
async fn asset_of(desk: &mut Desk<'_>, vault: &Asset) -> Result<Asset, Fault> {
    let at = desk.read(vault.at, &Vaults::assetCall {}).await?;
    desk.asset(&at.to_checksum(None))
}

pub(super) async fn deposit(desk: &mut Desk<'_>, args: &Args<'_>) -> Result<Deal, Fault> {
    let vault = named_vault(desk, args)?;
    let asset = asset_of(desk, &vault).await?;
    let stated = amount(desk, args, &asset)?;
    let assets = all_of(desk, &asset, stated).await?;
    if assets.is_zero() {
        return Err(Fault::new("VALIDATION_INVALID_AMOUNT", format!("the account holds no {}", asset.symbol)));
    }
    let shares = desk.read(vault.at, &Vaults::previewDepositCall { assets }).await?;
    let mut calls = vec![];
    allow(desk, &mut calls, &asset, vault.at, assets).await?;
    calls.push(call(vault.at, &Vaults::depositCall { assets, receiver: ACCOUNT }));
    let mut deal = deal(desk, calls, vec![(asset.at, assets)], vec![(Part::Recipient, ACCOUNT), (Part::Asset, asset.at)]);
    deal.tells.insert("deposits".into(), told(&asset, assets));
    deal.tells.insert("expected_shares".into(), json!(human(shares, vault.decimals)));
    Ok(deal)
}

pub(super) async fn redeem(desk: &mut Desk<'_>, args: &Args<'_>) -> Result<Deal, Fault> {
    let vault = named_vault(desk, args)?;
    let asset = asset_of(desk, &vault).await?;
    let shares = shares(desk, args, &vault).await?;
    let assets = desk.read(vault.at, &Vaults::previewRedeemCall { shares }).await?;
    let redeem = call(vault.at, &Vaults::redeemCall { shares, receiver: ACCOUNT, owner: ACCOUNT });
    let mut deal = deal(desk, vec![redeem], vec![], vec![(Part::Recipient, ACCOUNT), (Part::Asset, asset.at)]);
    deal.tells.insert("redeems".into(), told(&vault, shares));
    deal.tells.insert("expected_assets".into(), told(&asset, assets));
    Ok(deal)
}

/// A percentage of what is held, a number of shares, or all of it.
async fn shares(desk: &mut Desk<'_>, args: &Args<'_>, vault: &Asset) -> Result<U256, Fault> {
    if let Some(bps) = percent_bps(args) {
        return Ok(desk.holding(vault.at).await?.saturating_mul(U256::from(bps)) / U256::from(10_000));
    }
    let in_shares = args.amounts().find(|(_, kind, _)| matches!(kind, Kind::Amount { unit: Unit::Shares, .. }));
    // What a preview of a withdrawal names counts shares as well.
    let stated = in_shares.or_else(|| super::first_amount(args));
    let stated = stated.map(|(name, kind, value)| desk.amount(args, name, kind, value, vault)).transpose()?;
    all_of(desk, vault, stated.unwrap_or(U256::MAX)).await
}

/// A percentage argument in hundredths of a percent, at most all.
pub(super) fn percent_bps(args: &Args<'_>) -> Option<u64> {
    let (_, value) = args.first(|kind| matches!(kind, Kind::Percent))?;
    // Between 0 and 10,000 it fits any integer; what is no number counts as nothing.
    Some((value.as_f64().unwrap_or(0.0) * 100.0).round().clamp(0.0, 10_000.0) as u64)
}

pub(super) fn told(asset: &Asset, amount: U256) -> Value {
    json!({ "asset": asset.symbol, "amount": human(amount, asset.decimals) })
}

/// A call without money of its own.
pub(super) fn call<C: SolCall>(to: Address, what: &C) -> Call {
    Call { to, value: U256::ZERO, data: what.abi_encode() }
}
