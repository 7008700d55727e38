//! Network views: gas costs and supported chains.

use super::shared::{chain_facts, dollars};
use crate::chain::BASE_FEE;
use crate::live::tool_error::ToolError;
use crate::live::tx_builder::{AssetInfo, TxBuilder, human};
use alloy_primitives::{Address, U256};
use model::Workspace;
use serde_json::{Map, Value, json};

/// Gas of common operations, rounded up.
const TYPICAL_GAS: &[(&str, u64)] = &[("transfer", 65_000), ("swap", 200_000), ("liquidity", 300_000)];

pub(super) fn gas(builder: &TxBuilder<'_>) -> Map<String, Value> {
    let native = builder.registry().map(|chain| chain.native.clone()).unwrap_or_default();
    let coin = AssetInfo { at: Address::ZERO, symbol: native, decimals: 18 };
    let cost = |gas: u64| builder.usd8(&coin, U256::from(gas) * U256::from(BASE_FEE)).map(dollars);
    let mut answer = chain_facts(builder);
    answer.insert("base_fee_gwei".into(), json!(human(U256::from(BASE_FEE), 9)));
    answer.insert("priority_fee_gwei".into(), json!("0"));
    answer.insert("native".into(), json!(coin.symbol));
    answer.insert("cost_usd".into(), TYPICAL_GAS.iter().map(|(name, gas)| ((*name).to_owned(), json!(cost(*gas)))).collect());
    answer
}

pub(super) async fn chains(builder: &mut TxBuilder<'_>) -> Result<Map<String, Value>, ToolError> {
    // Only the current chain: reading the block of another would open it.
    let latest = builder.chain.latest().await?.number;
    let row = |id: &u64| chain_json(builder.workspace, *id, (*id == builder.id).then_some(latest));
    Ok(Map::from_iter([("chains".to_owned(), builder.world.chains.iter().map(row).collect())]))
}

fn chain_json(workspace: &Workspace, id: u64, latest: Option<u64>) -> Value {
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
