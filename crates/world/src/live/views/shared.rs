//! Lookups and answer parts shared by views.

use crate::chain::bindings::Token;
use crate::chain::genesis::ACCOUNT;
use crate::chain::{Tx, TxStatus};
use crate::live::args::{ToolArgs, scalar_text};
use crate::live::tool_error::ToolError;
use crate::live::tx_builder::{AssetInfo, TxBuilder, human};
use alloy_primitives::{Address, U256};
use alloy_sol_types::SolCall;
use model::transcript::ToolErrorCode;
use model::{AddressRole, ParamKind};
use serde_json::{Map, Value, json};

/// Returns a new answer with its chain id.
pub(super) fn chain_facts(builder: &TxBuilder<'_>) -> Map<String, Value> {
    Map::from_iter([("chain_id".to_owned(), json!(builder.id))])
}

/// Returns the address a read is about. The operator's address maps to its account, which holds the funds.
pub(super) fn owner(builder: &TxBuilder<'_>, args: &ToolArgs<'_>) -> Result<Address, ToolError> {
    let given = match args.address(AddressRole::Wallet)? {
        Some(wallet) => Some(wallet),
        None => args.address(AddressRole::Owner)?,
    };
    Ok(given.map(|given| given.address).filter(|given| *given != builder.operator).unwrap_or(ACCOUNT))
}

const TARGET_ROLES: &[AddressRole] =
    &[AddressRole::Pool, AddressRole::Vault, AddressRole::Market, AddressRole::Contract, AddressRole::Agent];

/// Returns the id or address parameter of a read, else its `target`.
pub(super) fn requested_id(args: &ToolArgs<'_>) -> Option<String> {
    let names =
        |kind: &ParamKind| matches!(kind, ParamKind::Id(_)) || matches!(kind, ParamKind::Address(role) if TARGET_ROLES.contains(role));
    args.first(names).map(|(_, value)| scalar_text(value)).or_else(|| args.text("target"))
}

pub(super) fn require_id(args: &ToolArgs<'_>, what: &str) -> Result<String, ToolError> {
    requested_id(args).ok_or_else(|| ToolError::new(ToolErrorCode::InvalidArguments, format!("no {what} specified")))
}

/// Calls a contract. Returns `None` if it reverts or returns invalid data, as unknown contracts may.
pub(super) async fn try_read<C: SolCall>(builder: &mut TxBuilder<'_>, to: Address, call: &C) -> Result<Option<C::Return>, ToolError> {
    let outcome = builder.chain.call(&Tx::call(ACCOUNT, to, call.abi_encode())).await?;
    let answered = outcome.status == TxStatus::Success;
    Ok(answered.then(|| C::abi_decode_returns(&outcome.output).ok()).flatten())
}

pub(super) async fn try_balance(builder: &mut TxBuilder<'_>, asset: Address, who: Address) -> Result<Option<U256>, ToolError> {
    match asset {
        Address::ZERO => Ok(Some(builder.chain.balance(who).await?)),
        token => try_read(builder, token, &Token::balanceOfCall(who)).await,
    }
}

pub(super) async fn balance(builder: &mut TxBuilder<'_>, asset: Address, who: Address) -> Result<U256, ToolError> {
    let failed = || ToolError::new(ToolErrorCode::CallReverted, format!("balanceOf failed for token {}", asset.to_checksum(None)));
    try_balance(builder, asset, who).await?.ok_or_else(failed)
}

/// Returns the asset at an address. The symbol of an unknown asset is its address.
pub(super) fn asset_at(builder: &TxBuilder<'_>, at: Address) -> AssetInfo {
    let known = builder.book.get(at).and_then(|entry| entry.asset.clone());
    let (symbol, decimals) = known.unwrap_or_else(|| (at.to_checksum(None), 18));
    AssetInfo { at, symbol, decimals }
}

/// Returns whether the registry lists an asset; the native coin counts as listed.
pub(super) fn is_registered(builder: &TxBuilder<'_>, at: Address) -> bool {
    let listed = |chain: &model::ChainRegistry| {
        let token = chain.tokens.iter().any(|token| token.address.address == at);
        token || chain.contracts.iter().any(|contract| contract.role == model::Role::Weth && contract.address.address == at)
    };
    at == Address::ZERO || builder.registry().is_some_and(listed)
}

pub(super) fn checksummed(at: Address) -> Value {
    if at == Address::ZERO { json!("native") } else { json!(at.to_checksum(None)) }
}

/// Returns an address with its name in the address book.
pub(super) fn party(builder: &TxBuilder<'_>, at: Address) -> Value {
    json!({ "address": at.to_checksum(None), "name": builder.book.get(at).map(|entry| entry.name.as_str()) })
}

/// Returns an amount with its USD value, if the asset has a price.
pub(super) fn amount_json(builder: &TxBuilder<'_>, asset: &AssetInfo, amount: U256) -> Value {
    json!({
        "token": asset.symbol,
        "address": checksummed(asset.at),
        "amount": human(amount, asset.decimals),
        "value_usd": builder.usd8(asset, amount).map(dollars),
    })
}

pub(super) fn dollars(usd8: U256) -> String {
    human(usd8, 8)
}

/// Sums the USD value of all priced amounts.
pub(super) fn total_usd8<'s>(builder: &TxBuilder<'_>, amounts: impl IntoIterator<Item = &'s (AssetInfo, U256)>) -> U256 {
    let values = amounts.into_iter().filter_map(|(asset, amount)| builder.usd8(asset, *amount));
    values.fold(U256::ZERO, U256::saturating_add)
}

/// Returns assets minus debts in USD.
pub(super) fn net_usd(had: U256, owed: U256) -> String {
    if had >= owed { dollars(had - owed) } else { format!("-{}", dollars(owed - had)) }
}

/// Truncates untrusted text to `most` characters.
pub(super) fn truncated(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}
