//! Allowance views: one allowance, and the audit of all of them.

use super::shared::{asset_at, chain_facts, checksummed, party, try_read};
use crate::chain::bindings::Token;
use crate::chain::encode;
use crate::chain::genesis::ACCOUNT;
use crate::live::args::ToolArgs;
use crate::live::tool_error::ToolError;
use crate::live::tx_builder::{AssetInfo, TxBuilder, human};
use alloy_primitives::{Address, U256};
use model::AddressRole;
use model::transcript::ToolErrorCode;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

pub(super) async fn allowance(builder: &mut TxBuilder<'_>, args: &ToolArgs<'_>) -> Result<Map<String, Value>, ToolError> {
    let text = args.any_token().ok_or_else(|| ToolError::new(ToolErrorCode::InvalidArguments, "no token specified"))?;
    let asset = builder.asset(&text)?;
    if asset.is_native() {
        return Err(ToolError::new(ToolErrorCode::InvalidArguments, "the native coin needs no approval"));
    }
    let spender = match args.address(AddressRole::Spender)? {
        Some(spender) => spender.address,
        None => builder.router()?,
    };
    let amount = builder.allowance(asset.at, spender).await?;
    let mut answer = chain_facts(builder);
    answer.insert("token".into(), json!(asset.symbol));
    answer.insert("address".into(), checksummed(asset.at));
    answer.insert("spender".into(), party(builder, spender));
    answer.insert("allowance".into(), json!(amount_text(&asset, amount)));
    answer.insert("unlimited".into(), json!(is_unlimited(amount)));
    Ok(answer)
}

/// Audits all allowances of the account, with a risk level for each.
pub(super) async fn allowances(builder: &mut TxBuilder<'_>, args: &ToolArgs<'_>) -> Result<Map<String, Value>, ToolError> {
    let given = world_allowances(builder);
    let spenders: BTreeSet<Address> = known_spenders(builder).chain(given.iter().map(|(_, spender)| *spender)).collect();
    let tokens = builder.book.entries().filter(|(at, entry)| entry.asset.is_some() && *at != Address::ZERO).map(|(at, _)| at);
    let (mut rows, mut unreadable) = (vec![], vec![]);
    for token in tokens.collect::<Vec<_>>() {
        let asset = asset_at(builder, token);
        for spender in &spenders {
            let call = Token::allowanceCall { owner: ACCOUNT, spender: *spender };
            let Some(amount) = try_read(builder, token, &call).await? else {
                unreadable.push(token.to_checksum(None));
                break;
            };
            let revoked = amount.is_zero() && args.flag("include_revoked") && given.contains(&(token, *spender));
            if !amount.is_zero() || revoked {
                rows.push(row(builder, &asset, *spender, amount));
            }
        }
    }
    let mut answer = chain_facts(builder);
    answer.insert("account".into(), json!(ACCOUNT.to_checksum(None)));
    answer.insert("risky".into(), json!(rows.iter().filter(|row| row["risk"] == "high" || row["risk"] == "medium").count()));
    answer.insert("allowances".into(), Value::Array(rows));
    if !unreadable.is_empty() {
        answer.insert("unreadable".into(), json!(unreadable));
    }
    Ok(answer)
}

/// Returns the contracts of this chain that spend allowances.
fn known_spenders<'d>(builder: &TxBuilder<'d>) -> impl Iterator<Item = Address> + use<'d> {
    let takes = |contract: Option<&str>| matches!(contract, Some("AmmRouter" | "Vault" | "Venue" | "Permit2" | "FeeBurner"));
    builder.book.entries().filter(move |(_, entry)| takes(entry.contract)).map(|(at, _)| at)
}

/// Returns token and spender of the allowances in the world file.
fn world_allowances(builder: &TxBuilder<'_>) -> Vec<(Address, Address)> {
    let here = builder.world.allowances.iter().filter(|given| given.chain == builder.id);
    here.filter_map(|given| Some((builder.asset(&given.token).ok()?.at, encode::parse_address(builder.book, &given.spender).ok()?)))
        .collect()
}

fn row(builder: &TxBuilder<'_>, asset: &AssetInfo, spender: Address, amount: U256) -> Value {
    let known = builder.book.get(spender).is_some();
    let sanctioned = builder.policy.sanctioned.iter().any(|address| address.address == spender);
    let risk = match (amount.is_zero(), known && !sanctioned, is_unlimited(amount)) {
        (true, true | false, true | false) => "none",
        (false, false, true | false) => "high",
        (false, true, true) => "medium",
        (false, true, false) => "low",
    };
    json!({
        "token": asset.symbol,
        "address": checksummed(asset.at),
        "spender": party(builder, spender),
        "allowance": amount_text(asset, amount),
        "unlimited": is_unlimited(amount),
        "known_spender": known,
        "sanctioned": sanctioned,
        "risk": risk,
    })
}

fn amount_text(asset: &AssetInfo, amount: U256) -> String {
    if is_unlimited(amount) { "unlimited".to_owned() } else { human(amount, asset.decimals) }
}

/// Uses the same threshold as recorded allowance effects.
fn is_unlimited(amount: U256) -> bool {
    amount > (U256::MAX >> 1)
}
