//! Positions in a venue: the contract and market a call is about, its assets and amounts.

use super::amounts::{all_of, maybe_amount};
use super::assets::main_asset;
use crate::chain::genesis::market;
use crate::live::args::{Args, word};
use crate::live::tool_error::ToolError;
use crate::live::tx_builder::{Asset, TxBuilder};
use crate::live::tx_plan::Part;
use alloy_primitives::{Address, B256, U256};
use model::transcript::ToolErrorCode;
use model::{Kind, OpTarget, Role, Spot, Thing, TokenRole, Tool, Unit};
use serde_json::Value;

/// Where a position lies, and what the thing that was named is made of.
pub(super) struct Position {
    pub venue: Address,
    pub market: B256,
    pub assets: Vec<String>,
}

/// The venue of the thing a call names, or that of the tool.
pub(super) fn position(builder: &TxBuilder<'_>, tool: &Tool, args: &Args<'_>) -> Result<Position, ToolError> {
    let thing = named_thing(builder, tool.via.role, args);
    let via = match thing {
        Some(thing) => OpTarget { role: thing.role, contract: thing.contract.clone(), ..OpTarget::default() },
        None => {
            let protocol = || by_word(builder, tool.via.role, args.text("protocol").or_else(|| args.text("provider")));
            OpTarget { role: tool.via.role, contract: tool.via.contract.clone().or_else(protocol), ..OpTarget::default() }
        }
    };
    let name = tool.via.market.as_deref().or_else(|| thing?.market.as_deref()).unwrap_or("lend");
    let assets = thing.map(|thing| thing.assets.iter().map(|symbol| symbol.value.clone()).collect()).unwrap_or_default();
    Ok(Position { venue: builder.contract(&via, &["Venue"])?, market: market(name), assets })
}

/// The first thing named that is a position of this role.
fn named_thing<'d>(builder: &'d TxBuilder<'_>, role: Option<Role>, args: &Args<'_>) -> Option<&'d Thing> {
    let names = |kind: &Kind| matches!(kind, Kind::Id(_) | Kind::Address(_));
    let texts = args.of_kind(|kind| names(kind) || matches!(kind, Kind::List(inner) if names(inner))).flat_map(|(_, _, value)| {
        let one = std::slice::from_ref(value);
        value.as_array().map_or(one, Vec::as_slice).iter().map(word)
    });
    let fits = |thing: &Thing| thing.chain == builder.id && thing.role.is_some_and(|own| role.is_none_or(|role| role == own));
    texts.into_iter().find_map(|text| builder.things.iter().find(|thing| fits(thing) && thing.id.eq_ignore_ascii_case(&text)))
}

/// The contract whose name in the registry begins with a word, such as `aave` or `across`.
pub(super) fn by_word(builder: &TxBuilder<'_>, role: Option<Role>, word: Option<String>) -> Option<Spot<String>> {
    let word = word.filter(|word| !word.is_empty())?.to_lowercase();
    let mut contracts = builder.registry()?.contracts.iter().filter(|contract| role.is_none_or(|role| contract.role == role));
    contracts.find(|contract| contract.name.to_lowercase().starts_with(&word)).map(|contract| contract.name.clone())
}

pub(super) fn gives(tool: &Tool) -> Option<&str> {
    tool.via.gives.as_ref().map(|symbol| symbol.value.as_str())
}

pub(super) fn takes(tool: &Tool) -> Option<&str> {
    tool.via.takes.as_ref().map(|symbol| symbol.value.as_str())
}

/// What is put in or taken out: the first asset of a thing.
pub(super) fn own_asset(builder: &TxBuilder<'_>, tool: &Tool, args: &Args<'_>, at: &Position) -> Result<Asset, ToolError> {
    let fixed = gives(tool).or(takes(tool)).or_else(|| at.assets.first().map(String::as_str));
    main_asset(builder, fixed, args, &[TokenRole::Asset, TokenRole::Collateral, TokenRole::In])
}

/// What is owed: the last asset of a thing.
pub(super) fn debt_asset(builder: &TxBuilder<'_>, tool: &Tool, args: &Args<'_>, at: &Position) -> Result<Asset, ToolError> {
    let fixed = gives(tool).or(takes(tool)).or_else(|| at.assets.last().map(String::as_str));
    main_asset(builder, fixed, args, &[TokenRole::Debt, TokenRole::Asset])
}

/// The amount a call is about: a deposit before its rent, collateral before size; the parts of a list add up.
pub(super) fn stated(builder: &TxBuilder<'_>, args: &Args<'_>, asset: &Asset) -> Result<Option<U256>, ToolError> {
    let own = args.amounts().find(|(name, kind, _)| is_main(name) && !matches!(kind, Kind::Amount { unit: Unit::Usd, .. }));
    if let Some((name, kind, value)) = own {
        return something(name, builder.amount(args, name, kind, value, asset)?).map(Some);
    }
    let listed = args.of_kind(|kind| matches!(kind, Kind::List(inner) if matches!(**inner, Kind::Amount { .. }))).next();
    let Some((name, Kind::List(inner), Value::Array(items))) = listed else { return maybe_amount(builder, args, asset) };
    let mut sum = U256::ZERO;
    for item in items {
        sum = sum.saturating_add(builder.amount(args, name, inner, item, asset)?);
    }
    something(name, sum).map(Some)
}

fn is_main(name: &str) -> bool {
    matches!(name, "deposit" | "amount") || name.starts_with("collateral")
}

pub(super) fn something(name: &str, amount: U256) -> Result<U256, ToolError> {
    if amount.is_zero() { Err(ToolError::new(ToolErrorCode::InvalidAmount, format!("{name}: nothing would move"))) } else { Ok(amount) }
}

/// An amount that must be said in numbers.
pub(super) fn needed(builder: &TxBuilder<'_>, args: &Args<'_>, asset: &Asset) -> Result<U256, ToolError> {
    let amount = stated(builder, args, asset)?.filter(|amount| *amount != U256::MAX);
    amount.ok_or_else(|| ToolError::new(ToolErrorCode::InvalidAmount, format!("say how much {}", asset.symbol)))
}

/// An amount that is held; everything where everything is meant.
pub(super) async fn from_holding(builder: &mut TxBuilder<'_>, args: &Args<'_>, asset: &Asset) -> Result<U256, ToolError> {
    let stated = stated(builder, args, asset)?.ok_or_else(|| ToolError::new(ToolErrorCode::InvalidAmount, "the call names no amount"))?;
    something(&asset.symbol, all_of(builder, asset, stated).await?)
}

pub(super) fn parties(to: Address, assets: &[&Asset]) -> Vec<(Part, Address)> {
    std::iter::once((Part::Recipient, to)).chain(assets.iter().map(|asset| (Part::Asset, asset.at))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deposit_is_meant_and_not_the_rent() {
        for (name, main) in
            [("deposit", true), ("amount", true), ("collateral_amount", true), ("rent_per_block", false), ("size_delta", false)]
        {
            assert_eq!(is_main(name), main, "{name}");
        }
    }
}
