//! Health view: health factor and borrowing power of a lending position.

use super::shared::{chain_facts, dollars, owner, party, requested_id};
use crate::chain::bindings::Venue;
use crate::chain::genesis::market_id;
use crate::live::args::ToolArgs;
use crate::live::tool_error::ToolError;
use crate::live::tx_builder::{TxBuilder, human};
use alloy_primitives::{Address, U256};
use model::{OpTarget, Role};
use serde_json::{Map, Value, json};

pub(super) async fn health(builder: &mut TxBuilder<'_>, args: &ToolArgs<'_>) -> Result<Map<String, Value>, ToolError> {
    let account = owner(builder, args)?;
    let (venue, name) = lending_market(builder, args)?;
    let market = market_id(&name);
    let factor = builder.read(venue, &Venue::healthFactorCall { account, market }).await?;
    let value = builder.read(venue, &Venue::accountValueCall { account, market }).await?;
    let minimum = builder.read(venue, &Venue::marketsCall(market)).await?.minRatioBps;
    let mut answer = chain_facts(builder);
    answer.insert("account".into(), json!(account.to_checksum(None)));
    answer.insert("venue".into(), party(builder, venue));
    answer.insert("market".into(), json!(name));
    // Null without debt.
    answer.insert("health_factor".into(), json!((factor != U256::MAX).then(|| human(factor / U256::from(10_u64.pow(14)), 4))));
    answer.insert("collateral_usd".into(), json!(dollars(value.collateralUsd8)));
    answer.insert("debt_usd".into(), json!(dollars(value.debtUsd8)));
    answer.insert("borrowing_power_left_usd".into(), json!(dollars(borrowable(value.collateralUsd8, value.debtUsd8, minimum))));
    answer.insert("min_collateral_ratio_bps".into(), json!(minimum));
    Ok(answer)
}

/// Returns the amount that can still be borrowed at the minimum collateral ratio.
fn borrowable(collateral: U256, debt: U256, minimum_bps: u32) -> U256 {
    let most = collateral.saturating_mul(U256::from(10_000)).checked_div(U256::from(minimum_bps)).unwrap_or_default();
    most.saturating_sub(debt)
}

/// Returns venue and market of the named object, else of the tool, else of the first lending pool.
fn lending_market(builder: &TxBuilder<'_>, args: &ToolArgs<'_>) -> Result<(Address, String), ToolError> {
    let own = &args.tool.via;
    let thing = requested_id(args).and_then(|text| builder.thing(&text).cloned()).filter(|thing| thing.role.is_some());
    let via = match &thing {
        Some(thing) => OpTarget { role: thing.role, contract: thing.contract.clone(), ..OpTarget::default() },
        None => OpTarget { role: own.role.or(Some(Role::LendingPool)), contract: own.contract.clone(), ..OpTarget::default() },
    };
    let market = thing.and_then(|thing| thing.market).or_else(|| own.market.clone()).unwrap_or_else(|| "lend".to_owned());
    Ok((builder.contract(&via, &["Venue"])?, market))
}
