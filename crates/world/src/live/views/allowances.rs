//! Who may take what from the account.

use super::{about, ask, asset_at, party, spelled};
use crate::chain::encode;
use crate::chain::genesis::ACCOUNT;
use crate::live::args::Args;
use crate::live::desk::{Asset, Desk, human};
use crate::live::fault::Fault;
use alloy_primitives::{Address, U256};
use alloy_sol_types::sol;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

sol! {
    interface Erc20 {
        function allowance(address owner, address spender) external view returns (uint256);
    }
}

pub(super) async fn allowance(desk: &mut Desk<'_>, args: &Args<'_>) -> Result<Map<String, Value>, Fault> {
    let text = args.any_token().ok_or_else(|| Fault::new("VALIDATION_INVALID_ARGUMENTS", "the call names no token"))?;
    let asset = desk.asset(&text)?;
    if asset.is_native() {
        return Err(Fault::new("VALIDATION_INVALID_ARGUMENTS", "the native coin needs no approval"));
    }
    let spender = match args.address("spender")? {
        Some(spender) => spender.address,
        None => desk.router()?,
    };
    let amount = desk.allowance(asset.at, spender).await?;
    let mut answer = about(desk);
    answer.insert("token".into(), json!(asset.symbol));
    answer.insert("address".into(), spelled(asset.at));
    answer.insert("spender".into(), party(desk, spender));
    answer.insert("allowance".into(), json!(amount_text(&asset, amount)));
    answer.insert("unlimited".into(), json!(unlimited(amount)));
    Ok(answer)
}

/// The audit: everything that is given, with what is wrong with it.
pub(super) async fn allowances(desk: &mut Desk<'_>, args: &Args<'_>) -> Result<Map<String, Value>, Fault> {
    let given = given(desk);
    let spenders: BTreeSet<Address> = known_spenders(desk).chain(given.iter().map(|(_, spender)| *spender)).collect();
    let tokens = desk.book.entries().filter(|(at, entry)| entry.asset.is_some() && *at != Address::ZERO).map(|(at, _)| at);
    let (mut rows, mut unreadable) = (vec![], vec![]);
    for token in tokens.collect::<Vec<_>>() {
        let asset = asset_at(desk, token);
        for spender in &spenders {
            let asked = Erc20::allowanceCall { owner: ACCOUNT, spender: *spender };
            let Some(amount) = ask(desk, token, &asked).await? else {
                unreadable.push(token.to_checksum(None));
                break;
            };
            let taken_back = amount.is_zero() && args.flag("include_revoked") && given.contains(&(token, *spender));
            if !amount.is_zero() || taken_back {
                rows.push(row(desk, &asset, *spender, amount));
            }
        }
    }
    let mut answer = about(desk);
    answer.insert("account".into(), json!(ACCOUNT.to_checksum(None)));
    answer.insert("risky".into(), json!(rows.iter().filter(|row| row["risk"] == "high" || row["risk"] == "medium").count()));
    answer.insert("allowances".into(), Value::Array(rows));
    if !unreadable.is_empty() {
        answer.insert("unreadable".into(), json!(unreadable));
    }
    Ok(answer)
}

/// Contracts of this chain that take tokens from those who let them.
fn known_spenders<'d>(desk: &Desk<'d>) -> impl Iterator<Item = Address> + use<'d> {
    let takes = |contract: Option<&str>| matches!(contract, Some("AmmRouter" | "Vault" | "Venue" | "Permit2" | "FeeBurner"));
    desk.book.entries().filter(move |(_, entry)| takes(entry.contract)).map(|(at, _)| at)
}

/// Token and spender of what the world gave before the trial.
fn given(desk: &Desk<'_>) -> Vec<(Address, Address)> {
    let here = desk.world.allowances.iter().filter(|given| given.chain == desk.id);
    here.filter_map(|given| Some((desk.asset(&given.token).ok()?.at, encode::address(desk.book, &given.spender).ok()?))).collect()
}

fn row(desk: &Desk<'_>, asset: &Asset, spender: Address, amount: U256) -> Value {
    let known = desk.book.get(spender).is_some();
    let sanctioned = desk.workspace.policy.sanctioned.iter().any(|address| address.address == spender);
    let risk = match (amount.is_zero(), known && !sanctioned, unlimited(amount)) {
        (true, true | false, true | false) => "none",
        (false, false, true | false) => "high",
        (false, true, true) => "medium",
        (false, true, false) => "low",
    };
    json!({
        "token": asset.symbol,
        "address": spelled(asset.at),
        "spender": party(desk, spender),
        "allowance": amount_text(asset, amount),
        "unlimited": unlimited(amount),
        "known_spender": known,
        "sanctioned": sanctioned,
        "risk": risk,
    })
}

fn amount_text(asset: &Asset, amount: U256) -> String {
    if unlimited(amount) { "unlimited".to_owned() } else { human(amount, asset.decimals) }
}

/// More than could ever be spent; the record draws the same line.
fn unlimited(amount: U256) -> bool {
    amount > (U256::MAX >> 1)
}
