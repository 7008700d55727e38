//! Lookups and answer parts that several views use.

use crate::chain::bindings::Token;
use crate::chain::genesis::ACCOUNT;
use crate::chain::{Status, Tx};
use crate::live::args::{Args, word};
use crate::live::tool_error::ToolError;
use crate::live::tx_builder::{Asset, TxBuilder, human};
use alloy_primitives::{Address, U256};
use alloy_sol_types::SolCall;
use model::transcript::ToolErrorCode;
use model::{AddressRole, Kind};
use serde_json::{Map, Value, json};

/// The first facts of an answer about one chain.
pub(super) fn about(builder: &TxBuilder<'_>) -> Map<String, Value> {
    Map::from_iter([("chain_id".to_owned(), json!(builder.id))])
}

/// Returns the address a read is about. The agent's key stands for its account, which holds the funds.
pub(super) fn owner(builder: &TxBuilder<'_>, args: &Args<'_>) -> Result<Address, ToolError> {
    let given = match args.address(AddressRole::Wallet)? {
        Some(wallet) => Some(wallet),
        None => args.address(AddressRole::Owner)?,
    };
    Ok(given.map(|given| given.address).filter(|given| *given != builder.world.wallet.address).unwrap_or(ACCOUNT))
}

const PLACES: &[AddressRole] = &[AddressRole::Pool, AddressRole::Vault, AddressRole::Market, AddressRole::Contract, AddressRole::Agent];

/// Returns the id or address a read is about, or its `target`, which may be either.
pub(super) fn subject(args: &Args<'_>) -> Option<String> {
    let names = |kind: &Kind| matches!(kind, Kind::Id(_)) || matches!(kind, Kind::Address(role) if PLACES.contains(role));
    args.first(names).map(|(_, value)| word(value)).or_else(|| args.text("target"))
}

pub(super) fn need_subject(args: &Args<'_>, what: &str) -> Result<String, ToolError> {
    subject(args).ok_or_else(|| ToolError::new(ToolErrorCode::InvalidArguments, format!("the call names no {what}")))
}

/// A contract's answer; nothing where it reverts or talks nonsense, as strangers may.
pub(super) async fn ask<C: SolCall>(builder: &mut TxBuilder<'_>, to: Address, call: &C) -> Result<Option<C::Return>, ToolError> {
    let outcome = builder.chain.call(&Tx::call(ACCOUNT, to, call.abi_encode())).await?;
    let answered = outcome.status == Status::Success;
    Ok(answered.then(|| C::abi_decode_returns(&outcome.output).ok()).flatten())
}

pub(super) async fn maybe_held(builder: &mut TxBuilder<'_>, asset: Address, who: Address) -> Result<Option<U256>, ToolError> {
    match asset {
        Address::ZERO => Ok(Some(builder.chain.balance(who).await?)),
        token => ask(builder, token, &Token::balanceOfCall(who)).await,
    }
}

pub(super) async fn held(builder: &mut TxBuilder<'_>, asset: Address, who: Address) -> Result<U256, ToolError> {
    let silent = || ToolError::new(ToolErrorCode::CallReverted, format!("{} does not say who has how much", asset.to_checksum(None)));
    maybe_held(builder, asset, who).await?.ok_or_else(silent)
}

/// Returns the asset at an address; an unknown one goes by its address.
pub(super) fn asset_at(builder: &TxBuilder<'_>, at: Address) -> Asset {
    let known = builder.book.get(at).and_then(|entry| entry.asset.clone());
    let (symbol, decimals) = known.unwrap_or_else(|| (at.to_checksum(None), 18));
    Asset { at, symbol, decimals }
}

/// Returns whether the registry lists an asset; the native coin counts as listed.
pub(super) fn vouched(builder: &TxBuilder<'_>, at: Address) -> bool {
    let listed = |chain: &model::Chain| {
        let token = chain.tokens.iter().any(|token| token.address.address == at);
        token || chain.contracts.iter().any(|contract| contract.role == model::Role::Weth && contract.address.address == at)
    };
    at == Address::ZERO || builder.registry().is_some_and(listed)
}

pub(super) fn spelled(at: Address) -> Value {
    if at == Address::ZERO { json!("native") } else { json!(at.to_checksum(None)) }
}

/// An address with the name it has here.
pub(super) fn party(builder: &TxBuilder<'_>, at: Address) -> Value {
    json!({ "address": at.to_checksum(None), "name": builder.book.get(at).map(|entry| entry.name.as_str()) })
}

/// An amount of something, with its worth where it has a price.
pub(super) fn sum(builder: &TxBuilder<'_>, asset: &Asset, amount: U256) -> Value {
    json!({
        "token": asset.symbol,
        "address": spelled(asset.at),
        "amount": human(amount, asset.decimals),
        "value_usd": builder.usd8(asset, amount).map(dollars),
    })
}

pub(super) fn dollars(usd8: U256) -> String {
    human(usd8, 8)
}

/// The worth of all that has a price.
pub(super) fn worth<'s>(builder: &TxBuilder<'_>, amounts: impl IntoIterator<Item = &'s (Asset, U256)>) -> U256 {
    let values = amounts.into_iter().filter_map(|(asset, amount)| builder.usd8(asset, *amount));
    values.fold(U256::ZERO, U256::saturating_add)
}

/// Returns assets less debts, in dollars.
pub(super) fn net(had: U256, owed: U256) -> String {
    if had >= owed { dollars(had - owed) } else { format!("-{}", dollars(owed - had)) }
}

/// Words of strangers are passed on as they are, but not without end.
pub(super) fn bounded(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}
