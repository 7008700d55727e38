//! Batches of raw calls, or of liquidity operations that also exist as single tools.

use super::calls::plan;
use crate::chain::bindings::Token;
use crate::live::args::{ToolArgs, address, scalar_text};
use crate::live::tool_error::{ToolError, quote_value};
use crate::live::tx_builder::TxBuilder;
use crate::live::tx_plan::{ContractCall, PartyRole, TxPlan};
use alloy_primitives::{Address, U256, hex};
use alloy_sol_types::SolCall;
use model::transcript::ToolErrorCode;
use model::{ParamKind, Tool, Workspace};
use serde_json::{Map, Value, json};

const MAX_CALLS: usize = 32;

/// One operation of a batch, as a call of its single tool.
pub(super) struct BatchPart<'w> {
    pub tool: &'w Tool,
    pub args: Map<String, Value>,
}

/// Returns the list of operations in a call.
pub(super) fn operations_arg<'a>(args: &ToolArgs<'a>) -> &'a [Value] {
    let list_of_objects = |kind: &ParamKind| matches!(kind, ParamKind::List(inner) if matches!(**inner, ParamKind::Object));
    args.of_kind(list_of_objects).find_map(|(_, _, value)| value.as_array()).map(Vec::as_slice).unwrap_or_default()
}

/// Returns a part for each operation, or `None` unless every operation names an action on a position.
pub(super) fn batch_parts<'w>(
    workspace: &'w Workspace,
    args: &ToolArgs<'_>,
    operations: &[Value],
) -> Result<Option<Vec<BatchPart<'w>>>, ToolError> {
    let tool = |operation: &Value| {
        let name = match operation.get("action").and_then(Value::as_str)? {
            "add" => "uniswap_lp_add_liquidity",
            "increase" => "uniswap_lp_increase_liquidity",
            "remove" => "uniswap_lp_remove_liquidity",
            "collect" => "uniswap_lp_collect_fees",
            "compound" => "uniswap_lp_compound_fees",
            _ => return None,
        };
        workspace.tool(name).filter(|_| operation.get("params").is_none())
    };
    let Some(tools) = operations.iter().map(tool).collect::<Option<Vec<_>>>().filter(|tools| !tools.is_empty()) else { return Ok(None) };
    if operations.len() > MAX_CALLS {
        return Err(ToolError::new(ToolErrorCode::InvalidArguments, format!("expected 1 to {MAX_CALLS} operations")));
    }
    let part = |(tool, operation): (&'w Tool, &Value)| {
        let mut own = operation.as_object().cloned().unwrap_or_default();
        if let Some(chain) = args.get("chain_id") {
            own.insert("chain_id".into(), chain.clone());
        }
        BatchPart { tool, args: own }
    };
    Ok(Some(tools.into_iter().zip(operations).map(part).collect()))
}

/// Plans operations that are given as raw calls.
pub(super) fn plan_raw_calls(builder: &TxBuilder<'_>, operations: &[Value]) -> Result<TxPlan, ToolError> {
    let calls = raw_calls(operations)?;
    let (mut outflows, mut parties) = (vec![], vec![]);
    for call in &calls {
        collect_outflows(call, &mut outflows, &mut parties);
    }
    let targets: Vec<String> = calls.iter().map(|call| call.to.to_checksum(None)).collect();
    let mut plan = plan(builder, calls, outflows, parties);
    plan.outputs.insert("calls".into(), json!(targets));
    Ok(plan)
}

/// Parses operations as calls `{ to, data, value }`; `target` is an alias of `to`.
pub(crate) fn raw_calls(operations: &[Value]) -> Result<Vec<ContractCall>, ToolError> {
    if operations.is_empty() || operations.len() > MAX_CALLS {
        return Err(ToolError::new(ToolErrorCode::InvalidArguments, format!("expected 1 to {MAX_CALLS} operations")));
    }
    operations.iter().map(raw_call).collect()
}

fn raw_call(operation: &Value) -> Result<ContractCall, ToolError> {
    // Some tools nest the call in the parameters of an adapter.
    let inside = operation.get("params").unwrap_or(operation);
    let field = |name: &str| inside.get(name).or_else(|| operation.get(name)).filter(|value| !value.is_null());
    let to = field("to").or_else(|| field("target"));
    let to = to.ok_or_else(|| {
        // Valid by the schema, but this world has no such adapter: not a mistake of the caller.
        if let Some(adapter) = operation.get("adapter").map(scalar_text) {
            return ToolError::new(ToolErrorCode::NotFound, format!("the vault has no strategy adapter {}", quote_value(&adapter)));
        }
        ToolError::new(ToolErrorCode::InvalidArguments, "each operation requires \"to\"; \"data\" and \"value\" are optional")
    })?;
    let data = field("data").map(scalar_text).unwrap_or_default();
    let data = hex::decode(&data)
        .map_err(|_| ToolError::new(ToolErrorCode::InvalidArguments, format!("data: {} is not valid hex", quote_value(&data))))?;
    let value = field("value").map(|value| wei(&scalar_text(value))).transpose()?.unwrap_or(U256::ZERO);
    Ok(ContractCall { to: address("to", to)?.address, value, data })
}

fn wei(text: &str) -> Result<U256, ToolError> {
    let (digits, radix) = text.strip_prefix("0x").map_or((text, 10), |digits| (digits, 16));
    let plain = !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix));
    let wei = if plain { U256::from_str_radix(digits, u64::from(radix)).ok() } else { None };
    wei.ok_or_else(|| ToolError::new(ToolErrorCode::InvalidAmount, format!("value: {} is not an amount in wei", quote_value(text))))
}

/// Adds the outflows and parties of a raw call, as far as its calldata can be decoded.
fn collect_outflows(call: &ContractCall, outflows: &mut Vec<(Address, U256)>, parties: &mut Vec<(PartyRole, Address)>) {
    if !call.value.is_zero() {
        outflows.push((Address::ZERO, call.value));
        parties.push((PartyRole::Asset, Address::ZERO));
    }
    if let Ok(sent) = Token::transferCall::abi_decode(&call.data) {
        outflows.push((call.to, sent.value));
        parties.extend([(PartyRole::Recipient, sent.to), (PartyRole::Asset, call.to)]);
    } else if let Ok(allowed) = Token::approveCall::abi_decode(&call.data) {
        parties.push((PartyRole::Asset, call.to));
        if !allowed.value.is_zero() {
            parties.push((PartyRole::Spender, allowed.spender));
        }
    } else {
        parties.push((PartyRole::Recipient, call.to));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloy_primitives::address;

    const OTHER: Address = address!("70997970C51812dc3A010C7d01b50e0d17dc79C8");

    #[test]
    fn raw_calls_parse_valid_operations() {
        let calls = raw_calls(&[
            json!({ "to": OTHER.to_checksum(None), "data": "0x1234", "value": "0x10" }),
            json!({ "target": OTHER.to_checksum(None), "value": 7 }),
        ]);
        let calls = calls.unwrap();
        assert_eq!((calls[0].to, calls[0].value, calls[0].data.as_slice()), (OTHER, U256::from(16), [0x12, 0x34].as_slice()));
        assert_eq!((calls[1].to, calls[1].value, calls[1].data.len()), (OTHER, U256::from(7), 0));
    }

    #[test]
    fn raw_calls_reject_invalid_operations() {
        let to = OTHER.to_checksum(None);
        for (operation, code) in [
            (json!({ "action": "collect" }), ToolErrorCode::InvalidArguments),
            (json!("collect"), ToolErrorCode::InvalidArguments),
            (json!({ "adapter": "aave", "action": "allocate", "params": { "amount": "100" } }), ToolErrorCode::NotFound),
            (json!({ "to": "router" }), ToolErrorCode::InvalidAddress),
            (json!({ "to": to, "data": "0xzz" }), ToolErrorCode::InvalidArguments),
            (json!({ "to": to, "value": "-1" }), ToolErrorCode::InvalidAmount),
            (json!({ "to": to, "value": "1_000" }), ToolErrorCode::InvalidAmount),
            (json!({ "to": to, "value": "0x" }), ToolErrorCode::InvalidAmount),
            (json!({ "to": to, "value": "9".repeat(100) }), ToolErrorCode::InvalidAmount),
        ] {
            assert_eq!(raw_calls(std::slice::from_ref(&operation)).unwrap_err().code, code, "{operation}");
        }
        assert_eq!(raw_calls(&[]).unwrap_err().code, ToolErrorCode::InvalidArguments);
        assert!(raw_calls(&vec![json!({ "to": to }); MAX_CALLS + 1]).is_err());
    }

    #[test]
    fn batch_reports_every_spender_and_recipient() {
        let token = address!("833589fCD6eDb6E08f4c7C32D4f71b54bdA02913");
        let (mut outflows, mut parties) = (vec![], vec![]);
        for data in [
            Token::transferCall { to: OTHER, value: U256::from(5) }.abi_encode(),
            Token::approveCall { spender: OTHER, value: U256::MAX }.abi_encode(),
        ] {
            collect_outflows(&ContractCall { to: token, value: U256::ZERO, data }, &mut outflows, &mut parties);
        }
        collect_outflows(&ContractCall { to: OTHER, value: U256::from(9), data: vec![] }, &mut outflows, &mut parties);
        assert_eq!(outflows, [(token, U256::from(5)), (Address::ZERO, U256::from(9))]);
        assert_eq!(parties.iter().filter(|party| **party == (PartyRole::Recipient, OTHER)).count(), 2);
        assert!(parties.contains(&(PartyRole::Spender, OTHER)));
    }
}
