//! Bridges an asset to another chain.

use super::amounts::{amount, resolve_max};
use super::assets::main_asset;
use super::calls::{amount_json, approve_if_needed, contract_call, plan, value_of};
use super::venue::contract_by_prefix;
use crate::chain::bindings::Venue;
use crate::chain::genesis::ACCOUNT;
use crate::live::args::{ToolArgs, scalar_text};
use crate::live::tool_error::{ToolError, quote_value};
use crate::live::tx_builder::{AssetInfo, TxBuilder};
use crate::live::tx_plan::{ContractCall, FollowUp, PartyRole, TxPlan};
use alloy_primitives::U256;
use model::transcript::ToolErrorCode;
use model::{AddressRole, ChainRole, OpTarget, ParamKind, Role, TokenRole, Tool};
use serde_json::json;

pub(super) async fn bridge(builder: &mut TxBuilder<'_>, tool: &Tool, args: &ToolArgs<'_>) -> Result<TxPlan, ToolError> {
    let asset = main_asset(builder, tool.via.gives.as_ref().map(|symbol| symbol.value.as_str()), args, &[TokenRole::Asset, TokenRole::In])?;
    let (dst, arrives) = destination(builder, args, &asset)?;
    let to = args.address(AddressRole::Recipient)?.map_or(ACCOUNT, |address| address.address);
    let role = tool.via.role.or(Some(Role::Bridge));
    let contract = tool.via.contract.clone().or_else(|| contract_by_prefix(builder, role, args.text("bridge")));
    let venue = builder.contract(&OpTarget { role, contract, ..OpTarget::default() }, &["Venue"])?;
    let stated = amount(builder, args, &asset)?;
    let amount = resolve_max(builder, &asset, stated).await?;
    let arriving = rescaled(amount, asset.decimals, arrives).filter(|amount| !amount.is_zero());
    let arriving = arriving
        .ok_or_else(|| ToolError::new(ToolErrorCode::InvalidAmount, "the amount cannot be represented on the destination chain"))?;
    let mut calls = vec![];
    approve_if_needed(builder, &mut calls, &asset, venue, amount).await?;
    let out = contract_call(venue, &Venue::bridgeOutCall { asset: asset.at, amount, dstChain: U256::from(dst), to });
    calls.push(ContractCall { value: value_of(&asset, amount), ..out });
    let mut plan = plan(builder, calls, vec![(asset.at, amount)], vec![(PartyRole::Recipient, to), (PartyRole::Asset, asset.at)]);
    plan.outputs.insert("bridges".into(), amount_json(&asset, amount));
    plan.outputs.insert("destination_chain_id".into(), json!(dst));
    plan.outputs.insert("to".into(), json!(to.to_checksum(None)));
    plan.follow_up = Some(FollowUp::Arrive { chain: dst, symbol: asset.symbol, decimals: arrives, amount: arriving, to });
    Ok(plan)
}

/// Returns the destination chain and the asset's decimals there. Fails before anything is sent if the asset cannot arrive.
fn destination(builder: &TxBuilder<'_>, args: &ToolArgs<'_>, asset: &AssetInfo) -> Result<(u64, u8), ToolError> {
    let named = args.first(|kind| matches!(kind, ParamKind::Chain(Some(ChainRole::Destination))));
    let (_, value) = named.ok_or_else(|| ToolError::new(ToolErrorCode::InvalidArguments, "no destination chain specified"))?;
    let text = scalar_text(value);
    let chain = builder.workspace.chain(&text).filter(|chain| builder.world.chains.contains(&chain.id));
    let chain = chain
        .ok_or_else(|| ToolError::new(ToolErrorCode::ChainNotSupported, format!("{} is not a supported chain", quote_value(&text))))?;
    if chain.id == builder.id {
        return Err(ToolError::new(ToolErrorCode::InvalidArguments, format!("{} is already on chain {}", asset.symbol, chain.id)));
    }
    let token = chain.tokens.iter().find(|token| token.symbol.eq_ignore_ascii_case(&asset.symbol)).map(|token| token.decimals);
    let arrives = if chain.native.eq_ignore_ascii_case(&asset.symbol) { Some(18) } else { token };
    let landing = chain.contracts.iter().any(|contract| contract.role == Role::Bridge);
    match arrives {
        Some(decimals) if landing => Ok((chain.id, decimals)),
        Some(_) | None => {
            Err(ToolError::new(ToolErrorCode::NoRoute, format!("no bridge route for {} to chain {}", asset.symbol, chain.id)))
        }
    }
}

/// Rescales an amount to other decimals, rounding down.
fn rescaled(amount: U256, from: u8, into: u8) -> Option<U256> {
    let unit = |digits: u8| U256::from(10).checked_pow(U256::from(digits));
    if into >= from { amount.checked_mul(unit(into - from)?) } else { amount.checked_div(unit(from - into)?) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rescaled_amount_keeps_its_worth() {
        let usdc = U256::from(250_000_000_u64);
        assert_eq!(rescaled(usdc, 6, 6), Some(usdc));
        assert_eq!(rescaled(usdc, 6, 18), Some(usdc * U256::from(10).pow(U256::from(12))));
        assert_eq!(rescaled(usdc, 6, 2), Some(U256::from(25_000)));
        assert_eq!(rescaled(U256::from(1), 18, 6), Some(U256::ZERO));
        assert_eq!(rescaled(U256::MAX, 6, 18), None);
    }
}
