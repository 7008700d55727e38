//! Portfolio view: all holdings of an account on one chain, with their USD value.

use super::shared::{chain_facts, net_usd, owner, total_usd8};
use super::{balances, pools, positions, vaults};
use crate::live::args::ToolArgs;
use crate::live::tool_error::ToolError;
use crate::live::tx_builder::TxBuilder;
use alloy_primitives::U256;
use serde_json::{Map, Value, json};

pub(super) async fn portfolio(builder: &mut TxBuilder<'_>, args: &ToolArgs<'_>) -> Result<Map<String, Value>, ToolError> {
    let who = owner(builder, args)?;
    let tokens = balances::account_balances(builder, who).await?;
    let vaults = vaults::vault_holdings(builder, who).await?;
    let shares = pools::shares(builder, who).await?;
    let markets = positions::market_positions(builder, who).await?;
    let had = total_usd8(builder, &tokens.holdings)
        .saturating_add(total_usd8(builder, vaults.iter().map(|vault| &vault.assets)))
        .saturating_add(total_usd8(builder, shares.iter().flat_map(|share| &share.amounts)))
        .saturating_add(total_usd8(builder, markets.iter().flat_map(|market| market.supplied.iter().chain(&market.claimable))));
    let owed: U256 = total_usd8(builder, markets.iter().flat_map(|market| &market.borrowed));
    let mut answer = chain_facts(builder);
    answer.insert("account".into(), json!(who.to_checksum(None)));
    tokens.insert_into(builder, &mut answer, "assets");
    answer.insert("vault_shares".into(), vaults.iter().map(|vault| Value::Object(vault.to_json(builder))).collect());
    answer.insert("pool_shares".into(), shares.iter().map(|share| positions::pool_share_json(builder, share)).collect());
    answer.insert("positions".into(), markets.iter().map(|market| positions::market_position_json(builder, market)).collect());
    answer.insert("total_usd".into(), json!(net_usd(had, owed)));
    Ok(answer)
}
