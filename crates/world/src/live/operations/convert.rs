//! Conversions by a venue at world prices: staking tokens, wrapping and liquidations.

use super::calls::{amount_json, approve_if_needed, contract_call, plan, value_of};
use super::swap::DEADLINE_S;
use super::venue::{from_holding, gives_symbol, parties, takes_symbol, venue_market};
use crate::chain::bindings::Venue;
use crate::chain::genesis::ACCOUNT;
use crate::live::args::ToolArgs;
use crate::live::tool_error::ToolError;
use crate::live::tx_builder::{AssetInfo, TxBuilder, human};
use crate::live::tx_plan::{ContractCall, TxPlan};
use alloy_primitives::U256;
use model::transcript::{ToolErrorCode, TradeTerms};
use model::{TokenRole, Tool};
use serde_json::json;

pub(super) async fn convert(builder: &mut TxBuilder<'_>, tool: &Tool, args: &ToolArgs<'_>) -> Result<TxPlan, ToolError> {
    let at = venue_market(builder, tool, args)?;
    let missing = |side: &str| ToolError::new(ToolErrorCode::InvalidArguments, format!("no {side} asset specified"));
    let from =
        builder.asset(&args.token(TokenRole::In).or_else(|| gives_symbol(tool).map(str::to_owned)).ok_or_else(|| missing("input"))?)?;
    let into =
        builder.asset(&args.token(TokenRole::Out).or_else(|| takes_symbol(tool).map(str::to_owned)).ok_or_else(|| missing("output"))?)?;
    let amount = from_holding(builder, args, &from).await?;
    let expected = convert_amount(builder, &from, amount, &into)?;
    let slippage = args.bps().unwrap_or(builder.policy.slippage_bps.default).min(10_000);
    let least = bps_of(expected, 10_000 - slippage);
    let mut calls = vec![];
    approve_if_needed(builder, &mut calls, &from, at.venue, amount).await?;
    let convert =
        Venue::convertCall { market: at.market, assetIn: from.at, amountIn: amount, assetOut: into.at, minOut: least, to: ACCOUNT };
    calls.push(ContractCall { value: value_of(&from, amount), ..contract_call(at.venue, &convert) });
    let mut plan = plan(builder, calls, vec![(from.at, amount)], parties(ACCOUNT, &[&from, &into]));
    plan.outputs.insert("gives".into(), amount_json(&from, amount));
    let least_text = human(least, into.decimals);
    plan.outputs.insert("takes".into(), json!({ "asset": into.symbol, "expected": human(expected, into.decimals), "least": least_text }));
    plan.trade = Some(TradeTerms {
        chain: builder.id,
        sell: from.symbol,
        amount: amount.to_string(),
        buy: into.symbol,
        expected: expected.to_string(),
        least: least.to_string(),
        to: builder.book.party(ACCOUNT),
        deadline: builder.unix_s.saturating_sub(builder.clock_shift_s) + DEADLINE_S,
    });
    Ok(plan)
}

/// Converts an amount of one asset into another at world prices.
pub(super) fn convert_amount(builder: &TxBuilder<'_>, from: &AssetInfo, amount: U256, into: &AssetInfo) -> Result<U256, ToolError> {
    let priced = |asset: &AssetInfo| {
        let price = builder.price(&asset.symbol).filter(|price| !price.is_zero());
        price.ok_or_else(|| ToolError::new(ToolErrorCode::Unavailable, format!("no price available for {}", asset.symbol)))
    };
    convert_at_prices(amount, (priced(from)?, from.decimals), (priced(into)?, into.decimals))
        .ok_or_else(|| ToolError::new(ToolErrorCode::InvalidAmount, format!("the amount of {} is too large", from.symbol)))
}

/// Converts an amount between two sides, each given as price and decimals.
fn convert_at_prices(amount: U256, from: (U256, u8), into: (U256, u8)) -> Option<U256> {
    let unit = |decimals: u8| U256::from(10).checked_pow(U256::from(decimals));
    let value = amount.checked_mul(from.0)?.checked_mul(unit(into.1)?)?;
    value.checked_div(into.0.checked_mul(unit(from.1)?)?)
}

pub(super) fn bps_of(amount: U256, bps: u64) -> U256 {
    amount.saturating_mul(U256::from(bps)) / U256::from(10_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(whole: u64, decimals: u8) -> U256 {
        U256::from(whole) * U256::from(10).pow(U256::from(decimals))
    }

    #[test]
    fn convert_at_prices_scales_decimals() {
        let (ether, dollar) = ((units(3_200, 8), 18), (units(1, 8), 6));
        assert_eq!(convert_at_prices(units(2, 18), ether, dollar), Some(units(6_400, 6)));
        assert_eq!(convert_at_prices(units(1_600, 6), dollar, ether), Some(units(5, 17)));
        assert_eq!(convert_at_prices(U256::MAX, ether, dollar), None);
        assert_eq!(convert_at_prices(U256::from(1), ether, (U256::ZERO, 6)), None);
    }

    #[test]
    fn bps_of_rounds_down() {
        assert_eq!(bps_of(U256::from(1_000), 2_500), U256::from(250));
        assert_eq!(bps_of(U256::from(3), 5_000), U256::from(1));
    }
}
