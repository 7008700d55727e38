//! Contract calls, and plans made of them.

use crate::chain::bindings::Token;
use crate::live::tool_error::ToolError;
use crate::live::tx_builder::{AssetInfo, TxBuilder, human};
use crate::live::tx_plan::{ContractCall, PartyRole, PlanKind, TxPlan};
use alloy_primitives::{Address, U256};
use alloy_sol_types::SolCall;
use serde_json::{Value, json};

pub(super) fn plan(
    builder: &TxBuilder<'_>,
    calls: Vec<ContractCall>,
    outflows: Vec<(Address, U256)>,
    parties: Vec<(PartyRole, Address)>,
) -> TxPlan {
    TxPlan { outflows, parties, ..TxPlan::new(builder.id, PlanKind::Execute(calls)) }
}

/// Adds an approval of exactly `amount`, unless the allowance is enough.
pub(super) async fn approve_if_needed(
    builder: &mut TxBuilder<'_>,
    calls: &mut Vec<ContractCall>,
    asset: &AssetInfo,
    spender: Address,
    amount: U256,
) -> Result<(), ToolError> {
    if !asset.is_native() && builder.allowance(asset.at, spender).await? < amount {
        calls.push(ContractCall { to: asset.at, value: U256::ZERO, data: Token::approveCall { spender, value: amount }.abi_encode() });
    }
    Ok(())
}

pub(super) fn value_of(asset: &AssetInfo, amount: U256) -> U256 {
    if asset.is_native() { amount } else { U256::ZERO }
}

/// Encodes a call without native value.
pub(super) fn contract_call<C: SolCall>(to: Address, what: &C) -> ContractCall {
    ContractCall { to, value: U256::ZERO, data: what.abi_encode() }
}

pub(super) fn amount_json(asset: &AssetInfo, amount: U256) -> Value {
    json!({ "asset": asset.symbol, "amount": human(amount, asset.decimals) })
}
