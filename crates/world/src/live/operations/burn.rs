//! Plans a burn of UNI, which releases the fees in the TokenJar.

use super::amounts::optional_amount;
use super::calls::{amount_json, approve_if_needed, contract_call, plan};
use super::venue::parties;
use crate::chain::bindings::FeeBurner;
use crate::chain::genesis::ACCOUNT;
use crate::live::args::{ToolArgs, scalar_text};
use crate::live::tool_error::ToolError;
use crate::live::tx_builder::{AssetInfo, TxBuilder, human};
use crate::live::tx_plan::TxPlan;
use alloy_primitives::U256;
use model::transcript::ToolErrorCode;
use model::{AddressRole, ParamKind, Role, Tool};
use serde_json::{Value, json};

pub(super) async fn burn(builder: &mut TxBuilder<'_>, tool: &Tool, args: &ToolArgs<'_>) -> Result<TxPlan, ToolError> {
    let burner = builder.contract(&tool.via, &["FeeBurner"])?;
    let uni = builder.asset("UNI")?;
    let assets = args
        .first(|kind| matches!(kind, ParamKind::List(inner) if matches!(**inner, ParamKind::Token(_))))
        .and_then(|(_, value)| value.as_array());
    let assets: Vec<AssetInfo> = match assets {
        Some(named) => named.iter().map(|item| builder.asset(&scalar_text(item))).collect::<Result<_, _>>()?,
        None => jar_assets(builder).map(|symbol| builder.asset(symbol)).collect::<Result<_, _>>()?,
    };
    let to = args.address(AddressRole::Recipient)?.map_or(ACCOUNT, |address| address.address);
    let max_burn = optional_amount(builder, args, &uni)?;
    let burn_amount = builder.read(burner, &FeeBurner::burnAmountCall {}).await?;
    if max_burn.is_some_and(|max| max < burn_amount) {
        return Err(ToolError::new(
            ToolErrorCode::TxRefused,
            format!("TokenJar release requires {} UNI", human(burn_amount, uni.decimals)),
        ));
    }
    // A stale nonce must fail on chain, so it is not corrected here.
    let nonce = match args.get("expected_nonce").and_then(Value::as_u64) {
        Some(nonce) => U256::from(nonce),
        None => builder.read(burner, &FeeBurner::nonceCall {}).await?,
    };
    let mut calls = vec![];
    approve_if_needed(builder, &mut calls, &uni, burner, burn_amount).await?;
    let released = assets.iter().map(|asset| asset.at).collect();
    calls.push(contract_call(burner, &FeeBurner::releaseCall { nonce_: nonce, assets: released, recipient: to }));
    let involved: Vec<&AssetInfo> = std::iter::once(&uni).chain(&assets).collect();
    let mut plan = plan(builder, calls, vec![(uni.at, burn_amount)], parties(to, &involved));
    plan.outputs.insert("burns".into(), amount_json(&uni, burn_amount));
    plan.outputs.insert("nonce".into(), json!(nonce.to_string()));
    plan.outputs.insert("releases".into(), json!(assets.iter().map(|asset| &asset.symbol).collect::<Vec<_>>()));
    Ok(plan)
}

/// Returns the assets that the world file puts into the jar of this chain.
fn jar_assets<'b>(builder: &'b TxBuilder<'_>) -> impl Iterator<Item = &'b str> {
    let jars = builder.things.iter().filter(|thing| thing.chain == builder.id && thing.role == Some(Role::FeeBurner));
    jars.flat_map(|thing| thing.assets.first()).map(|symbol| symbol.as_str())
}
