//! All that an account has on one chain, and what it is worth.

use super::{about, balances, net, owner, pools, positions, vaults, worth};
use crate::live::args::Args;
use crate::live::desk::Desk;
use crate::live::fault::Fault;
use alloy_primitives::U256;
use serde_json::{Map, Value, json};

pub(super) async fn portfolio(desk: &mut Desk<'_>, args: &Args<'_>) -> Result<Map<String, Value>, Fault> {
    let who = owner(desk, args)?;
    let tokens = balances::all(desk, who).await?;
    let vaults = vaults::all(desk, who).await?;
    let shares = pools::shares(desk, who).await?;
    let stands = positions::stands(desk, who).await?;
    let had = worth(desk, &tokens.holdings)
        .saturating_add(worth(desk, vaults.iter().map(|vault| &vault.assets)))
        .saturating_add(worth(desk, shares.iter().flat_map(|share| &share.amounts)))
        .saturating_add(worth(desk, stands.iter().flat_map(|stand| stand.supplied.iter().chain(&stand.claimable))));
    let owed: U256 = worth(desk, stands.iter().flat_map(|stand| &stand.borrowed));
    let mut answer = about(desk);
    answer.insert("account".into(), json!(who.to_checksum(None)));
    tokens.tell(desk, &mut answer, "assets");
    answer.insert("vault_shares".into(), vaults.iter().map(|vault| Value::Object(vault.tell(desk))).collect());
    answer.insert("pool_shares".into(), shares.iter().map(|share| positions::tell_share(desk, share)).collect());
    answer.insert("positions".into(), stands.iter().map(|stand| positions::tell_stand(desk, stand)).collect());
    answer.insert("total_usd".into(), json!(net(had, owed)));
    Ok(answer)
}
