//! Pool view: reserves and price, and pool shares of an account.

use super::shared::{amount_json, balance, chain_facts, dollars, requested_id, total_usd8, truncated};
use crate::chain::bindings::AmmPair;
use crate::live::args::{ToolArgs, scalar_text};
use crate::live::tool_error::{ToolError, quote_value};
use crate::live::tx_builder::{AssetInfo, TxBuilder, human};
use alloy_primitives::{Address, U256};
use model::transcript::ToolErrorCode;
use model::{AddressText, ParamKind, TokenRole};
use serde_json::{Map, Value, json};

pub(super) struct PoolState {
    pub at: Address,
    /// Assets with their reserves, in the requested order.
    pub sides: [(AssetInfo, U256); 2],
    pub shares: U256,
}

/// An account's share of a pool.
pub(super) struct PoolShare {
    pub pool: Address,
    pub shares: U256,
    pub amounts: [(AssetInfo, U256); 2],
}

pub(super) async fn pool(builder: &mut TxBuilder<'_>, args: &ToolArgs<'_>) -> Result<Map<String, Value>, ToolError> {
    let (requested, [a, b]) = requested_pool(builder, args)?;
    let pool = load_pool(builder, a, b).await?;
    let [(a, reserve_a), (b, reserve_b)] = &pool.sides;
    let priced = pool.sides.iter().all(|(asset, _)| builder.price(&asset.symbol).is_some());
    let mut answer = chain_facts(builder);
    answer.insert("pool".into(), json!(requested.unwrap_or_else(|| pool.at.to_checksum(None))));
    answer.insert("contract".into(), json!(pool.at.to_checksum(None)));
    answer.insert("pair".into(), json!(format!("{}-{}", a.symbol, b.symbol)));
    answer.insert("reserves".into(), pool.sides.iter().map(|(asset, amount)| amount_json(builder, asset, *amount)).collect());
    answer.insert("price".into(), json!({ "of": a.symbol, "in": b.symbol, "amount": price(a, *reserve_a, b, *reserve_b) }));
    answer.insert("tvl_usd".into(), json!(priced.then(|| dollars(total_usd8(builder, &pool.sides)))));
    answer.insert("total_shares".into(), json!(human(pool.shares, 18)));
    Ok(answer)
}

/// Returns the assets of the requested pool, with its id if the call names one.
fn requested_pool(builder: &TxBuilder<'_>, args: &ToolArgs<'_>) -> Result<(Option<String>, [AssetInfo; 2]), ToolError> {
    for (a, b) in [(TokenRole::A, TokenRole::B), (TokenRole::In, TokenRole::Out)] {
        if let (Some(a), Some(b)) = (args.token(a), args.token(b)) {
            return Ok((None, [builder.asset(&a)?, builder.asset(&b)?]));
        }
    }
    let listed = args.first(|kind| matches!(kind, ParamKind::List(inner) if matches!(**inner, ParamKind::Token(_))));
    if let Some([a, b]) = listed.and_then(|(_, value)| value.as_array()).map(Vec::as_slice) {
        return Ok((None, [builder.asset(&scalar_text(a))?, builder.asset(&scalar_text(b))?]));
    }
    let text = requested_id(args).ok_or_else(|| ToolError::new(ToolErrorCode::InvalidArguments, "no pool specified"))?;
    if let Some((a, b)) = text.split_once(['/', '-'])
        && let (Ok(a), Ok(b)) = (builder.asset(a.trim()), builder.asset(b.trim()))
    {
        return Ok((None, [a, b]));
    }
    let assets: Result<[AssetInfo; 2], _> = builder.underlying_assets(&text)?.try_into();
    let spelling = AddressText::parse(&text).map_or_else(|| truncated(&text, 80), |address| address.to_checksum());
    let assets = assets
        .map_err(|_| ToolError::new(ToolErrorCode::NotFound, format!("{} is not a pool on chain {}", quote_value(&text), builder.id)))?;
    Ok((Some(spelling), assets))
}

pub(super) async fn load_pool(builder: &mut TxBuilder<'_>, a: AssetInfo, b: AssetInfo) -> Result<PoolState, ToolError> {
    let at = builder.pair(&a, &b).map_err(|error| ToolError::new(ToolErrorCode::NotFound, error.message))?;
    let (a, b) = (wrapped(builder, a)?, wrapped(builder, b)?);
    let reserves = builder.read(at, &AmmPair::getReservesCall {}).await?;
    let shares = builder.read(at, &AmmPair::totalSupplyCall {}).await?;
    let (zero, one) = (U256::from(reserves.reserve0), U256::from(reserves.reserve1));
    // The factory sorts tokens by address.
    let (reserve_a, reserve_b) = if a.at < b.at { (zero, one) } else { (one, zero) };
    Ok(PoolState { at, sides: [(a, reserve_a), (b, reserve_b)], shares })
}

/// Replaces the native coin by its wrapped token, which pools hold.
fn wrapped(builder: &TxBuilder<'_>, asset: AssetInfo) -> Result<AssetInfo, ToolError> {
    if asset.is_native() { builder.asset(&format!("W{}", asset.symbol)) } else { Ok(asset) }
}

/// Returns the price of the first asset in units of the second, with 8 decimals.
fn price(a: &AssetInfo, reserve_a: U256, b: &AssetInfo, reserve_b: U256) -> Option<String> {
    let unit = |asset: &AssetInfo| U256::from(10).checked_pow(U256::from(asset.decimals));
    let above = reserve_b.checked_mul(unit(a)?)?.checked_mul(U256::from(100_000_000_u64))?;
    above.checked_div(reserve_a.checked_mul(unit(b)?)?).map(|price| human(price, 8))
}

/// Returns an account's share of one pool.
pub(super) async fn share(builder: &mut TxBuilder<'_>, a: AssetInfo, b: AssetInfo, who: Address) -> Result<PoolShare, ToolError> {
    let pool = load_pool(builder, a, b).await?;
    let shares = balance(builder, pool.at, who).await?;
    Ok(pool_share(pool, shares))
}

fn pool_share(pool: PoolState, shares: U256) -> PoolShare {
    let of = |reserve: U256| reserve.checked_mul(shares).and_then(|all| all.checked_div(pool.shares)).unwrap_or_default();
    PoolShare { pool: pool.at, shares, amounts: pool.sides.map(|(asset, reserve)| (asset, of(reserve))) }
}

/// Returns all pool shares of an account.
pub(super) async fn shares(builder: &mut TxBuilder<'_>, who: Address) -> Result<Vec<PoolShare>, ToolError> {
    let pairs = builder.book.entries().filter(|(_, entry)| entry.contract == Some("AmmPair")).map(|(at, _)| at);
    let mut found = vec![];
    for at in pairs.collect::<Vec<_>>() {
        let shares = balance(builder, at, who).await?;
        if shares.is_zero() {
            continue;
        }
        if let Ok([a, b]) = <[AssetInfo; 2]>::try_from(builder.underlying_assets(&at.to_checksum(None))?) {
            found.push(pool_share(load_pool(builder, a, b).await?, shares));
        }
    }
    Ok(found)
}

impl PoolShare {
    pub(super) fn to_json(&self, builder: &TxBuilder<'_>) -> Map<String, Value> {
        let [(a, _), (b, _)] = &self.amounts;
        Map::from_iter([
            ("pool".to_owned(), json!(self.pool.to_checksum(None))),
            ("pair".to_owned(), json!(format!("{}-{}", a.symbol, b.symbol))),
            ("shares".to_owned(), json!(human(self.shares, 18))),
            ("amounts".to_owned(), self.amounts.iter().map(|(asset, amount)| amount_json(builder, asset, *amount)).collect()),
            ("value_usd".to_owned(), json!(dollars(total_usd8(builder, &self.amounts)))),
        ])
    }
}
