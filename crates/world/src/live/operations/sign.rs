//! Signatures instead of transactions: orders, delegations and settings as EIP-712 data with one field per argument.

use super::amounts::first_amount;
use super::assets::main_asset;
use super::swap::DEADLINE_S;
use crate::chain::TypedData;
use crate::chain::genesis::ACCOUNT;
use crate::live::args::{ToolArgs, address, scalar_text};
use crate::live::tool_error::{ToolError, quote_value};
use crate::live::tx_builder::{AssetInfo, TxBuilder};
use crate::live::tx_plan::{PartyRole, PlanKind, TxPlan};
use alloy_primitives::{Address, U256};
use model::transcript::ToolErrorCode;
use model::{AddressRole, AmountAsset, ChainRole, OpTarget, ParamKind, Role, TokenRole, Tool};
use serde_json::{Map, Value, json};

/// Maximum characters of a text field.
const LONGEST: usize = 1_000;
/// Deadlines from this value on are Unix timestamps, not durations in seconds.
const MIN_UNIX_DEADLINE: u64 = 1_000_000_000;

pub(super) fn sign(builder: &TxBuilder<'_>, tool: &Tool, args: &ToolArgs<'_>) -> Result<TxPlan, ToolError> {
    let mut message = TypedMessage::default();
    for (name, value) in args.as_map() {
        // A quote may count in other units than the write it prepares.
        let kind = args.tool.params.get(name).or_else(|| tool.params.get(name)).and_then(|param| param.kind.as_ref());
        let skip = matches!(name.as_str(), "dry_run" | "action_id") || value.is_null() || matches!(kind, Some(ParamKind::Deadline));
        if !skip {
            let (is, value) = field(builder, args, name, kind, value)?;
            message.add(name, is, value);
        }
    }
    let given = args.first(|kind| matches!(kind, ParamKind::Deadline)).and_then(|(_, value)| value.as_u64());
    let deadline = deadline_at(builder.unix_s, given);
    message.add("nonce", "uint256", json!(builder.unix_s.to_string()));
    message.add("deadline", "uint256", json!(deadline.to_string()));
    let sells = args.token(TokenRole::In).is_some();
    let primary = identifier(tool.via.message.as_deref().unwrap_or("Message"));
    let data = message.into_typed_data(&primary, builder.id, if sells { permit2(builder) } else { ACCOUNT })?;
    let mut plan = TxPlan::new(builder.id, PlanKind::Sign(Box::new(data)));
    if sells {
        let sold = main_asset(builder, None, args, &[TokenRole::In])?;
        if let Some((name, kind, value)) = first_amount(args) {
            plan.outflows.push((sold.at, exact_amount(builder, args, name, kind, value, &sold)?));
        }
        plan.parties.push((PartyRole::Asset, sold.at));
    }
    plan.parties.extend(args.address(AddressRole::Recipient)?.map(|to| (PartyRole::Recipient, to.address)));
    plan.parties.extend(args.address(AddressRole::Spender)?.map(|spender| (PartyRole::Spender, spender.address)));
    plan.outputs.insert("signs".into(), json!(primary));
    plan.outputs.insert("deadline".into(), json!(deadline));
    Ok(plan)
}

/// Returns the verifying contract of orders: Permit2, or the account on a chain without it.
fn permit2(builder: &TxBuilder<'_>) -> Address {
    builder.contract(&OpTarget { role: Some(Role::Permit2), ..OpTarget::default() }, &["Permit2"]).unwrap_or(ACCOUNT)
}

fn field(
    builder: &TxBuilder<'_>,
    args: &ToolArgs<'_>,
    name: &str,
    kind: Option<&ParamKind>,
    value: &Value,
) -> Result<(&'static str, Value), ToolError> {
    Ok(match (kind, value) {
        (Some(ParamKind::Token(_)), _) => match (builder.asset(&scalar_text(value)), is_cross_chain(args)) {
            (Ok(asset), _) => ("address", json!(asset.at.to_checksum(None))),
            // A token of the destination chain is signed by name.
            (Err(_), true) => ("string", json!(truncated(&scalar_text(value)))),
            (Err(error), false) => return Err(error),
        },
        (Some(kind @ ParamKind::Amount { of, .. }), _) => {
            let counted = amount_asset(builder, args, of.as_ref())?;
            ("uint256", json!(exact_amount(builder, args, name, kind, value, &counted)?.to_string()))
        }
        (Some(ParamKind::Address(_)), _) => ("address", json!(address(name, value)?.address.to_checksum(None))),
        (_, Value::Bool(flag)) => ("bool", json!(flag)),
        (_, Value::Number(number)) if number.is_u64() => ("uint256", json!(number.to_string())),
        (_, _) => ("string", json!(truncated(&scalar_text(value)))),
    })
}

fn is_cross_chain(args: &ToolArgs<'_>) -> bool {
    args.first(|kind| matches!(kind, ParamKind::Chain(Some(ChainRole::Destination)))).is_some()
}

/// Returns the asset of an amount. Without one, 18 decimals are assumed.
fn amount_asset(builder: &TxBuilder<'_>, args: &ToolArgs<'_>, of: Option<&AmountAsset>) -> Result<AssetInfo, ToolError> {
    let text = match of {
        Some(AmountAsset::Param(param)) => args.text(param),
        Some(AmountAsset::Symbol(symbol)) => Some(symbol.clone()),
        None => None,
    };
    let Some(text) = text else { return Ok(AssetInfo { at: Address::ZERO, symbol: String::new(), decimals: 18 }) };
    let none = || ToolError::new(ToolErrorCode::NotFound, format!("{} has no underlying asset", quote_value(&text)));
    builder.underlying_assets(&text)?.into_iter().next().ok_or_else(none)
}

/// Returns an exact amount. Rejects `all` and `max`, which would be signed without a limit.
fn exact_amount(
    builder: &TxBuilder<'_>,
    args: &ToolArgs<'_>,
    name: &str,
    kind: &ParamKind,
    value: &Value,
    asset: &AssetInfo,
) -> Result<U256, ToolError> {
    let amount = builder.amount(args, name, kind, value, asset)?;
    if amount == U256::MAX {
        Err(ToolError::new(ToolErrorCode::InvalidAmount, format!("{name}: a signature requires an exact amount")))
    } else {
        Ok(amount)
    }
}

fn deadline_at(now: u64, given: Option<u64>) -> u64 {
    match given {
        Some(date) if date >= MIN_UNIX_DEADLINE => date,
        Some(seconds) => now.saturating_add(seconds),
        None => now.saturating_add(DEADLINE_S),
    }
}

fn truncated(text: &str) -> String {
    text.chars().take(LONGEST).collect()
}

/// Converts a name to a Solidity identifier.
fn identifier(name: &str) -> String {
    let plain: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if plain.starts_with(|c: char| c.is_ascii_digit()) || plain.is_empty() { format!("_{plain}") } else { plain }
}

/// Message fields with their types, in argument order.
#[derive(Default)]
struct TypedMessage {
    types: Vec<Value>,
    values: Map<String, Value>,
}

impl TypedMessage {
    /// Adds a field; ignores one whose name exists already.
    fn add(&mut self, name: &str, is: &'static str, value: Value) {
        let name = identifier(name);
        if !self.values.contains_key(&name) {
            self.types.push(json!({ "name": name, "type": is }));
            self.values.insert(name, value);
        }
    }

    fn into_typed_data(self, primary: &str, chain: u64, verifier: Address) -> Result<TypedData, ToolError> {
        let domain = [("name", "string"), ("version", "string"), ("chainId", "uint256"), ("verifyingContract", "address")];
        let domain: Vec<Value> = domain.iter().map(|(name, is)| json!({ "name": name, "type": is })).collect();
        let data = json!({
            "types": { "EIP712Domain": domain, primary: self.types },
            "primaryType": primary,
            "domain": { "name": "bardo", "version": "1", "chainId": chain, "verifyingContract": verifier.to_checksum(None) },
            "message": self.values,
        });
        let data: TypedData =
            serde_json::from_value(data).map_err(|error| ToolError::new(ToolErrorCode::SigningFailed, error.to_string()))?;
        // Fail here rather than at signing if the data cannot be hashed.
        data.eip712_signing_hash().map_err(|error| ToolError::new(ToolErrorCode::SigningFailed, error.to_string()))?;
        Ok(data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(amount: &str) -> TypedData {
        let mut message = TypedMessage::default();
        message.add("token_in", "address", json!(ACCOUNT.to_checksum(None)));
        message.add("amount", "uint256", json!(amount));
        message.add("use it", "bool", json!(true));
        message.add("reason", "string", json!("{\"a\":1} ü"));
        message.add("nonce", "uint256", json!("5"));
        message.add("nonce", "uint256", json!("6"));
        message.into_typed_data("Order", 8453, ACCOUNT).unwrap()
    }

    #[test]
    fn typed_messages_hash_differently() {
        let (one, other) = (message("100"), message("101"));
        assert_eq!(one.primary_type, "Order");
        assert_eq!(one.message["nonce"], json!("5"));
        assert_eq!(one.message["use_it"], json!(true));
        assert_ne!(one.eip712_signing_hash().unwrap(), other.eip712_signing_hash().unwrap());
        let ends = one.encode_type().unwrap();
        assert_eq!(ends, "Order(address token_in,uint256 amount,bool use_it,string reason,uint256 nonce)");
    }

    #[test]
    fn deadline_accepts_timestamp_or_seconds() {
        assert_eq!(deadline_at(1_772_971_200, None), 1_772_971_500);
        assert_eq!(deadline_at(1_772_971_200, Some(60)), 1_772_971_260);
        assert_eq!(deadline_at(1_772_971_200, Some(1_772_971_999)), 1_772_971_999);
        assert_eq!(deadline_at(u64::MAX, Some(60)), u64::MAX);
    }

    #[test]
    fn names_become_identifiers() {
        assert_eq!(identifier("token_in"), "token_in");
        assert_eq!(identifier("foo-bar baz"), "foo_bar_baz");
        assert_eq!(identifier("0x"), "_0x");
        assert_eq!(identifier(""), "_");
    }
}
