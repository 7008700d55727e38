//! The networks themselves: what gas costs and which chains there are.

use super::{Around, about, dollars};
use crate::chain::BASE_FEE;
use crate::live::desk::{Asset, Desk, human};
use crate::live::fault::Fault;
use alloy_primitives::{Address, U256};
use model::Workspace;
use serde_json::{Map, Value, json};

/// Gas of common operations, rounded up.
const USUAL: &[(&str, u64)] = &[("transfer", 65_000), ("swap", 200_000), ("liquidity", 300_000)];

pub(super) fn gas(desk: &Desk<'_>) -> Map<String, Value> {
    let native = desk.registry().map(|chain| chain.native.clone()).unwrap_or_default();
    let coin = Asset { at: Address::ZERO, symbol: native, decimals: 18 };
    let cost = |gas: u64| desk.usd8(&coin, U256::from(gas) * U256::from(BASE_FEE)).map(dollars);
    let mut answer = about(desk);
    answer.insert("base_fee_gwei".into(), json!(human(U256::from(BASE_FEE), 9)));
    answer.insert("priority_fee_gwei".into(), json!("0"));
    answer.insert("native".into(), json!(coin.symbol));
    answer.insert("cost_usd".into(), USUAL.iter().map(|(name, gas)| ((*name).to_owned(), json!(cost(*gas)))).collect());
    answer
}

pub(super) async fn chains(desk: &mut Desk<'_>, around: &Around<'_>) -> Result<Map<String, Value>, Fault> {
    // The other chains may not have been touched yet; asking them would start them.
    let latest = desk.chain.latest().await?.number;
    let row = |id: &u64| tell(desk.workspace, *id, (*id == desk.id).then_some(latest));
    Ok(Map::from_iter([("chains".to_owned(), around.all_chains.iter().map(row).collect())]))
}

fn tell(workspace: &Workspace, id: u64, latest: Option<u64>) -> Value {
    let chain = workspace.chains.iter().find(|chain| chain.id == id);
    let mut row = json!({
        "chain_id": id,
        "name": chain.map(|chain| chain.name.as_str()),
        "native": chain.map(|chain| chain.native.as_str()),
        "status": "ok",
    });
    if let (Value::Object(fields), Some(latest)) = (&mut row, latest) {
        fields.insert("latest_block".into(), json!(latest));
    }
    row
}
