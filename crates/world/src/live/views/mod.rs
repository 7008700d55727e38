//! Reads that the live chain answers. One family of views, one file.

mod allowances;
mod balances;
mod health;
mod identity;
mod ledger;
mod limits;
mod network;
mod pools;
mod portfolio;
mod positions;
mod prices;
#[cfg(test)]
mod tests;
mod vaults;

use super::args::{Args, word};
use super::tool_error::ToolError;
use super::tx_builder::{Asset, TxBuilder, human};
use crate::chain::bindings::Token;
use crate::chain::genesis::ACCOUNT;
use crate::chain::{Status, Tx};
use alloy_primitives::{Address, U256};
use alloy_sol_types::SolCall;
use model::transcript::ToolErrorCode;
use model::{AddressRole, Kind, View};
use serde_json::{Map, Value, json};

/// What a view cannot read from the chain it looks at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Around<'a> {
    pub all_chains: &'a [u64],
    pub sent: &'a [SentFact],
    /// Spent in this session and on this day, in US dollars with 8 decimals.
    pub spent_usd8: (U256, U256),
    pub halted: bool,
}

/// A transaction of this trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SentFact {
    pub tx_hash: String,
    pub chain: u64,
    pub action_id: Option<String>,
    pub tool: String,
    pub ok: bool,
    pub block: u64,
    pub gas_used: u64,
}

pub(crate) async fn view(builder: &mut TxBuilder<'_>, which: View, args: &Args<'_>, around: &Around<'_>) -> Result<Value, ToolError> {
    let answer = match which {
        View::Price => prices::price(builder, args),
        View::Token => prices::token(builder, args).await,
        View::Balances => balances::balances(builder, args).await,
        View::Portfolio => portfolio::portfolio(builder, args).await,
        View::Allowance => allowances::allowance(builder, args).await,
        View::Allowances => allowances::allowances(builder, args).await,
        View::Pool => pools::pool(builder, args).await,
        View::Position => positions::position(builder, args).await,
        View::Positions => positions::positions(builder, args).await,
        View::Vault => vaults::vault(builder, args).await,
        View::VaultPosition => vaults::position(builder, args).await,
        View::Health => health::health(builder, args).await,
        View::Gas => Ok(network::gas(builder)),
        View::Chains => network::chains(builder, around).await,
        View::Transaction => ledger::transaction(builder, args, around),
        View::Orders => ledger::orders(builder, args, around),
        View::Agent => identity::agent(builder, args).await,
        View::Limits => Ok(limits::limits(builder, around)),
        View::Memory | View::Files => Err(ToolError::new(ToolErrorCode::Unavailable, "the chain keeps neither memories nor files")),
    }?;
    Ok(stamped(builder, answer))
}

/// Every answer says when it was true.
fn stamped(builder: &TxBuilder<'_>, mut answer: Map<String, Value>) -> Value {
    answer.insert("as_of".into(), json!(builder.unix_s));
    Value::Object(answer)
}

/// The first facts of an answer about one chain.
fn about(builder: &TxBuilder<'_>) -> Map<String, Value> {
    Map::from_iter([("chain_id".to_owned(), json!(builder.id))])
}

/// Whom a read is about. The agent's key stands for its account: that is where its funds are.
fn owner(builder: &TxBuilder<'_>, args: &Args<'_>) -> Result<Address, ToolError> {
    let given = match args.address(AddressRole::Wallet)? {
        Some(wallet) => Some(wallet),
        None => args.address(AddressRole::Owner)?,
    };
    Ok(given.map(|given| given.address).filter(|given| *given != builder.world.wallet.address).unwrap_or(ACCOUNT))
}

const PLACES: &[AddressRole] = &[AddressRole::Pool, AddressRole::Vault, AddressRole::Market, AddressRole::Contract, AddressRole::Agent];

/// What a read is about: an id, an address, or a `target` that may be either.
fn subject(args: &Args<'_>) -> Option<String> {
    let names = |kind: &Kind| matches!(kind, Kind::Id(_)) || matches!(kind, Kind::Address(role) if PLACES.contains(role));
    args.first(names).map(|(_, value)| word(value)).or_else(|| args.text("target"))
}

fn need_subject(args: &Args<'_>, what: &str) -> Result<String, ToolError> {
    subject(args).ok_or_else(|| ToolError::new(ToolErrorCode::InvalidArguments, format!("the call names no {what}")))
}

/// A contract's answer; nothing where it reverts or talks nonsense, as strangers may.
async fn ask<C: SolCall>(builder: &mut TxBuilder<'_>, to: Address, call: &C) -> Result<Option<C::Return>, ToolError> {
    let outcome = builder.chain.call(&Tx::call(ACCOUNT, to, call.abi_encode())).await?;
    let answered = outcome.status == Status::Success;
    Ok(answered.then(|| C::abi_decode_returns(&outcome.output).ok()).flatten())
}

async fn maybe_held(builder: &mut TxBuilder<'_>, asset: Address, who: Address) -> Result<Option<U256>, ToolError> {
    match asset {
        Address::ZERO => Ok(Some(builder.chain.balance(who).await?)),
        token => ask(builder, token, &Token::balanceOfCall(who)).await,
    }
}

async fn held(builder: &mut TxBuilder<'_>, asset: Address, who: Address) -> Result<U256, ToolError> {
    let silent = || ToolError::new(ToolErrorCode::CallReverted, format!("{} does not say who has how much", asset.to_checksum(None)));
    maybe_held(builder, asset, who).await?.ok_or_else(silent)
}

/// What stands at an address, as an asset. Strangers go by their address.
fn asset_at(builder: &TxBuilder<'_>, at: Address) -> Asset {
    let known = builder.book.get(at).and_then(|entry| entry.asset.clone());
    let (symbol, decimals) = known.unwrap_or_else(|| (at.to_checksum(None), 18));
    Asset { at, symbol, decimals }
}

/// Whether the registry vouches for an asset; the native coin needs nobody to.
fn vouched(builder: &TxBuilder<'_>, at: Address) -> bool {
    let listed = |chain: &model::Chain| {
        let token = chain.tokens.iter().any(|token| token.address.address == at);
        token || chain.contracts.iter().any(|contract| contract.role == model::Role::Weth && contract.address.address == at)
    };
    at == Address::ZERO || builder.registry().is_some_and(listed)
}

fn spelled(at: Address) -> Value {
    if at == Address::ZERO { json!("native") } else { json!(at.to_checksum(None)) }
}

/// An address with the name it has here.
fn party(builder: &TxBuilder<'_>, at: Address) -> Value {
    json!({ "address": at.to_checksum(None), "name": builder.book.get(at).map(|entry| entry.name.as_str()) })
}

/// An amount of something, with its worth where it has a price.
fn sum(builder: &TxBuilder<'_>, asset: &Asset, amount: U256) -> Value {
    json!({
        "token": asset.symbol,
        "address": spelled(asset.at),
        "amount": human(amount, asset.decimals),
        "value_usd": builder.usd8(asset, amount).map(dollars),
    })
}

fn dollars(usd8: U256) -> String {
    human(usd8, 8)
}

/// The worth of all that has a price.
fn worth<'s>(builder: &TxBuilder<'_>, amounts: impl IntoIterator<Item = &'s (Asset, U256)>) -> U256 {
    let values = amounts.into_iter().filter_map(|(asset, amount)| builder.usd8(asset, *amount));
    values.fold(U256::ZERO, U256::saturating_add)
}

/// What is had less what is owed, in dollars.
fn net(had: U256, owed: U256) -> String {
    if had >= owed { dollars(had - owed) } else { format!("-{}", dollars(owed - had)) }
}

/// Words of strangers are passed on as they are, but not without end.
fn bounded(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}
