//! All that an account has on one chain, and what it is worth.

use super::shared::{about, net, owner, worth};
use super::{balances, pools, positions, vaults};
use crate::live::args::Args;
use crate::live::tool_error::ToolError;
use crate::live::tx_builder::TxBuilder;
use alloy_primitives::U256;
use serde_json::{Map, Value, json};

pub(super) async fn portfolio(builder: &mut TxBuilder<'_>, args: &Args<'_>) -> Result<Map<String, Value>, ToolError> {
    let who = owner(builder, args)?;
    let tokens = balances::all(builder, who).await?;
    let vaults = vaults::all(builder, who).await?;
    let shares = pools::shares(builder, who).await?;
    let stands = positions::stands(builder, who).await?;
    let had = worth(builder, &tokens.holdings)
        .saturating_add(worth(builder, vaults.iter().map(|vault| &vault.assets)))
        .saturating_add(worth(builder, shares.iter().flat_map(|share| &share.amounts)))
        .saturating_add(worth(builder, stands.iter().flat_map(|stand| stand.supplied.iter().chain(&stand.claimable))));
    let owed: U256 = worth(builder, stands.iter().flat_map(|stand| &stand.borrowed));
    let mut answer = about(builder);
    answer.insert("account".into(), json!(who.to_checksum(None)));
    tokens.tell(builder, &mut answer, "assets");
    answer.insert("vault_shares".into(), vaults.iter().map(|vault| Value::Object(vault.tell(builder))).collect());
    answer.insert("pool_shares".into(), shares.iter().map(|share| positions::tell_share(builder, share)).collect());
    answer.insert("positions".into(), stands.iter().map(|stand| positions::tell_stand(builder, stand)).collect());
    answer.insert("total_usd".into(), json!(net(had, owed)));
    Ok(answer)
}
