//! Venue, market, assets and amounts that a call names.

use super::amounts::{optional_amount, resolve_max};
use super::assets::main_asset;
use crate::chain::genesis::market_id;
use crate::live::args::{ToolArgs, scalar_text};
use crate::live::tool_error::ToolError;
use crate::live::tx_builder::{AssetInfo, TxBuilder};
use crate::live::tx_plan::PartyRole;
use alloy_primitives::{Address, B256, U256};
use model::transcript::ToolErrorCode;
use model::{AmountUnit, OpTarget, ParamKind, Role, Spanned, TokenRole, Tool, WorldObject};
use serde_json::Value;

/// Venue and market of a position, with the assets of the named object.
pub(super) struct VenueMarket {
    pub venue: Address,
    pub market: B256,
    pub assets: Vec<String>,
}

/// Returns venue and market of the object that a call names, else of the tool.
pub(super) fn venue_market(builder: &TxBuilder<'_>, tool: &Tool, args: &ToolArgs<'_>) -> Result<VenueMarket, ToolError> {
    let thing = named_thing(builder, tool.via.role, args);
    let via = match thing {
        Some(thing) => OpTarget { role: thing.role, contract: thing.contract.clone(), ..OpTarget::default() },
        None => {
            let protocol = || contract_by_prefix(builder, tool.via.role, args.text("protocol").or_else(|| args.text("provider")));
            OpTarget { role: tool.via.role, contract: tool.via.contract.clone().or_else(protocol), ..OpTarget::default() }
        }
    };
    let name = tool.via.market.as_deref().or_else(|| thing?.market.as_deref()).unwrap_or("lend");
    let assets = thing.map(|thing| thing.assets.iter().map(|symbol| symbol.value.clone()).collect()).unwrap_or_default();
    Ok(VenueMarket { venue: builder.contract(&via, &["Venue"])?, market: market_id(name), assets })
}

/// Returns the first named object that is a position of this role.
fn named_thing<'d>(builder: &'d TxBuilder<'_>, role: Option<Role>, args: &ToolArgs<'_>) -> Option<&'d WorldObject> {
    let names = |kind: &ParamKind| matches!(kind, ParamKind::Id(_) | ParamKind::Address(_));
    let texts = args.of_kind(|kind| names(kind) || matches!(kind, ParamKind::List(inner) if names(inner))).flat_map(|(_, _, value)| {
        let one = std::slice::from_ref(value);
        value.as_array().map_or(one, Vec::as_slice).iter().map(scalar_text)
    });
    let fits = |thing: &WorldObject| thing.chain == builder.id && thing.role.is_some_and(|own| role.is_none_or(|role| role == own));
    texts.into_iter().find_map(|text| builder.things.iter().find(|thing| fits(thing) && thing.id.eq_ignore_ascii_case(&text)))
}

/// Returns the name of the first registry contract that starts with a word, such as `aave` or `across`.
pub(super) fn contract_by_prefix(builder: &TxBuilder<'_>, role: Option<Role>, word: Option<String>) -> Option<Spanned<String>> {
    let word = word.filter(|word| !word.is_empty())?.to_lowercase();
    let mut contracts = builder.registry()?.contracts.iter().filter(|contract| role.is_none_or(|role| contract.role == role));
    contracts.find(|contract| contract.name.to_lowercase().starts_with(&word)).map(|contract| contract.name.clone())
}

pub(super) fn gives_symbol(tool: &Tool) -> Option<&str> {
    tool.via.gives.as_ref().map(|symbol| symbol.value.as_str())
}

pub(super) fn takes_symbol(tool: &Tool) -> Option<&str> {
    tool.via.takes.as_ref().map(|symbol| symbol.value.as_str())
}

/// Returns the supplied asset, by default the first asset of the named object.
pub(super) fn supply_asset(builder: &TxBuilder<'_>, tool: &Tool, args: &ToolArgs<'_>, at: &VenueMarket) -> Result<AssetInfo, ToolError> {
    let fixed = gives_symbol(tool).or(takes_symbol(tool)).or_else(|| at.assets.first().map(String::as_str));
    main_asset(builder, fixed, args, &[TokenRole::Asset, TokenRole::Collateral, TokenRole::In])
}

/// Returns the borrowed asset, by default the last asset of the named object.
pub(super) fn debt_asset(builder: &TxBuilder<'_>, tool: &Tool, args: &ToolArgs<'_>, at: &VenueMarket) -> Result<AssetInfo, ToolError> {
    let fixed = gives_symbol(tool).or(takes_symbol(tool)).or_else(|| at.assets.last().map(String::as_str));
    main_asset(builder, fixed, args, &[TokenRole::Debt, TokenRole::Asset])
}

/// Returns the main amount of a call: a deposit before its rent, collateral before size. List items are summed.
pub(super) fn stated_amount(builder: &TxBuilder<'_>, args: &ToolArgs<'_>, asset: &AssetInfo) -> Result<Option<U256>, ToolError> {
    let own =
        args.amounts().find(|(name, kind, _)| is_main_amount(name) && !matches!(kind, ParamKind::Amount { unit: AmountUnit::Usd, .. }));
    if let Some((name, kind, value)) = own {
        return require_nonzero(name, builder.amount(args, name, kind, value, asset)?).map(Some);
    }
    let listed = args.of_kind(|kind| matches!(kind, ParamKind::List(inner) if matches!(**inner, ParamKind::Amount { .. }))).next();
    let Some((name, ParamKind::List(inner), Value::Array(items))) = listed else { return optional_amount(builder, args, asset) };
    let mut sum = U256::ZERO;
    for item in items {
        sum = sum.saturating_add(builder.amount(args, name, inner, item, asset)?);
    }
    require_nonzero(name, sum).map(Some)
}

fn is_main_amount(name: &str) -> bool {
    matches!(name, "deposit" | "amount") || name.starts_with("collateral")
}

pub(super) fn require_nonzero(name: &str, amount: U256) -> Result<U256, ToolError> {
    if amount.is_zero() {
        Err(ToolError::new(ToolErrorCode::InvalidAmount, format!("{name}: amount must be greater than zero")))
    } else {
        Ok(amount)
    }
}

/// Returns the main amount, which must be a number and not `all`.
pub(super) fn require_amount(builder: &TxBuilder<'_>, args: &ToolArgs<'_>, asset: &AssetInfo) -> Result<U256, ToolError> {
    let amount = stated_amount(builder, args, asset)?.filter(|amount| *amount != U256::MAX);
    amount.ok_or_else(|| ToolError::new(ToolErrorCode::InvalidAmount, format!("an exact amount of {} is required", asset.symbol)))
}

/// Returns the main amount, with `all` replaced by the balance; fails if it is zero.
pub(super) async fn from_holding(builder: &mut TxBuilder<'_>, args: &ToolArgs<'_>, asset: &AssetInfo) -> Result<U256, ToolError> {
    let stated = stated_amount(builder, args, asset)?.ok_or_else(|| ToolError::new(ToolErrorCode::InvalidAmount, "no amount specified"))?;
    require_nonzero(&asset.symbol, resolve_max(builder, asset, stated).await?)
}

pub(super) fn parties(to: Address, assets: &[&AssetInfo]) -> Vec<(PartyRole, Address)> {
    std::iter::once((PartyRole::Recipient, to)).chain(assets.iter().map(|asset| (PartyRole::Asset, asset.at))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_main_amount_accepts_deposit_but_not_rent() {
        for (name, main) in
            [("deposit", true), ("amount", true), ("collateral_amount", true), ("rent_per_block", false), ("size_delta", false)]
        {
            assert_eq!(is_main_amount(name), main, "{name}");
        }
    }
}
