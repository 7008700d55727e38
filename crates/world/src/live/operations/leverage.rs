//! Leverage: a loan against collateral, and its repayment.

use super::assets::main_asset;
use super::calls::{amount_json, contract_call, plan};
use super::convert::{bps_of, convert_amount};
use super::lend::{debt_of, repay_calls, supply_calls};
use super::vault::percent_bps;
use super::venue::{debt_asset, from_holding, parties, require_nonzero, supply_asset, takes_symbol, venue_market};
use crate::chain::bindings::Venue;
use crate::chain::genesis::{ACCOUNT, base_units};
use crate::live::args::{ToolArgs, scalar_text};
use crate::live::tool_error::{ToolError, quote_value};
use crate::live::tx_builder::TxBuilder;
use crate::live::tx_plan::TxPlan;
use alloy_primitives::U256;
use model::transcript::ToolErrorCode;
use model::{ParamKind, TokenRole, Tool};

/// Plans a supply of collateral and a loan worth `leverage - 1` times the collateral.
pub(super) async fn leverage(builder: &mut TxBuilder<'_>, tool: &Tool, args: &ToolArgs<'_>) -> Result<TxPlan, ToolError> {
    let at = venue_market(builder, tool, args)?;
    let asset = supply_asset(builder, tool, args, &at)?;
    let debt = debt_asset(builder, tool, args, &at)?;
    let leverage = ratio(args, 4)?.ok_or_else(|| ToolError::new(ToolErrorCode::InvalidArguments, "no leverage specified"))?;
    let beyond = leverage.checked_sub(U256::from(10_000)).filter(|beyond| !beyond.is_zero());
    let beyond = beyond.ok_or_else(|| ToolError::new(ToolErrorCode::InvalidArguments, "leverage must be greater than 1"))?;
    let amount = from_holding(builder, args, &asset).await?;
    let loan = convert_amount(builder, &asset, amount, &debt)?.saturating_mul(beyond) / U256::from(10_000);
    let loan = require_nonzero(&debt.symbol, loan)?;
    let mut calls = vec![];
    supply_calls(builder, &mut calls, &at, tool, (&asset, amount)).await?;
    calls.push(contract_call(at.venue, &Venue::borrowCall { market: at.market, asset: debt.at, amount: loan, to: ACCOUNT }));
    let mut plan = plan(builder, calls, vec![(asset.at, amount)], parties(ACCOUNT, &[&asset, &debt]));
    plan.outputs.insert("enters".into(), amount_json(&asset, amount));
    plan.outputs.insert("borrows".into(), amount_json(&debt, loan));
    Ok(plan)
}

/// Returns the ratio argument with `decimals` decimals; further digits are dropped.
fn ratio(args: &ToolArgs<'_>, decimals: u8) -> Result<Option<U256>, ToolError> {
    let Some((name, value)) = args.first(|kind| matches!(kind, ParamKind::Ratio)) else { return Ok(None) };
    let text = scalar_text(value);
    let cut: String = match text.split_once('.') {
        Some((whole, fraction)) => format!("{whole}.{}", fraction.chars().take(usize::from(decimals)).collect::<String>()),
        None => text.clone(),
    };
    let ratio = base_units(&cut, decimals).filter(|ratio| !ratio.is_zero());
    ratio
        .map(Some)
        .ok_or_else(|| ToolError::new(ToolErrorCode::InvalidArguments, format!("{name}: {} is not a valid ratio", quote_value(&text))))
}

/// Plans a repayment from the balance and a withdrawal of the same share of collateral; none with a target health factor.
pub(super) async fn deleverage(builder: &mut TxBuilder<'_>, tool: &Tool, args: &ToolArgs<'_>) -> Result<TxPlan, ToolError> {
    let at = venue_market(builder, tool, args)?;
    let debt = debt_asset(builder, tool, args, &at)?;
    let collateral = takes_symbol(tool).or_else(|| at.assets.first().map(String::as_str));
    let collateral = main_asset(builder, collateral, args, &[TokenRole::Collateral])?;
    let owed = debt_of(builder, &at, &debt).await?;
    let held = builder.read(at.venue, &Venue::suppliedCall { account: ACCOUNT, market: at.market, asset: collateral.at }).await?;
    let target = ratio(args, 18)?;
    let wanted = match target {
        Some(target) => {
            let health = builder.read(at.venue, &Venue::healthFactorCall { account: ACCOUNT, market: at.market }).await?;
            repayment_for_health(owed, health, target).unwrap_or_default()
        }
        None => bps_of(owed, percent_bps(args).unwrap_or(10_000)),
    };
    let pay = wanted.min(builder.own_balance(debt.at).await?);
    let out = match (target, owed.is_zero()) {
        (Some(_), _) => U256::ZERO,
        (None, true) => bps_of(held, percent_bps(args).unwrap_or(10_000)),
        (None, false) => held.saturating_mul(pay) / owed,
    };
    let (mut calls, mut given) = (vec![], vec![]);
    // With nothing to repay or withdraw, the venue rejects the empty repayment.
    if !pay.is_zero() || out.is_zero() {
        repay_calls(builder, &mut calls, &at, &debt, pay).await?;
        given.push((debt.at, pay));
    }
    if !out.is_zero() {
        calls.push(contract_call(at.venue, &Venue::exitCall { market: at.market, asset: collateral.at, amount: out, to: ACCOUNT }));
    }
    let mut plan = plan(builder, calls, given, parties(ACCOUNT, &[&debt, &collateral]));
    plan.outputs.insert("repays".into(), amount_json(&debt, pay));
    plan.outputs.insert("takes_out".into(), amount_json(&collateral, out));
    plan.outputs.insert("still_owed".into(), amount_json(&debt, owed - pay));
    Ok(plan)
}

/// Returns the repayment that raises the health factor to `target`, or `None` if it is reached already.
fn repayment_for_health(owed: U256, health: U256, target: U256) -> Option<U256> {
    if health >= target {
        return None;
    }
    Some(owed - owed.checked_mul(health)? / target)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(whole: u64, decimals: u8) -> U256 {
        U256::from(whole) * U256::from(10).pow(U256::from(decimals))
    }

    #[test]
    fn repayment_reaches_the_health_factor() {
        // From 1.2 to 2.4: half of the debt.
        assert_eq!(repayment_for_health(U256::from(1_000), units(12, 17), units(24, 17)), Some(U256::from(500)));
        assert_eq!(repayment_for_health(U256::from(1_000), units(2, 18), units(2, 18)), None);
        assert_eq!(repayment_for_health(U256::ZERO, U256::MAX, units(2, 18)), None);
    }
}
