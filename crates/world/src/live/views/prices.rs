//! Token views: price and on-chain metadata.

use super::shared::{chain_facts, checksummed, dollars, is_registered, truncated, try_read};
use crate::chain::bindings::Token;
use crate::live::args::ToolArgs;
use crate::live::tool_error::{ToolError, quote_value};
use crate::live::tx_builder::{AssetInfo, TxBuilder, human};
use alloy_primitives::{Address, U256};
use model::AddressText;
use model::transcript::ToolErrorCode;
use serde_json::{Map, Value, json};

/// Maximum characters of a token name or symbol.
const LONGEST: usize = 200;

fn requested_token(args: &ToolArgs<'_>) -> Result<String, ToolError> {
    args.any_token().ok_or_else(|| ToolError::new(ToolErrorCode::InvalidArguments, "no token specified"))
}

pub(super) fn price(builder: &TxBuilder<'_>, args: &ToolArgs<'_>) -> Result<Map<String, Value>, ToolError> {
    let asset = builder.asset(&requested_token(args)?)?;
    let unpriced = |what: &str| ToolError::new(ToolErrorCode::NotFound, format!("no price available for {what} on chain {}", builder.id));
    let usd8 = builder.price(&asset.symbol).ok_or_else(|| unpriced(&asset.symbol))?;
    let mut answer = chain_facts(builder);
    answer.insert("token".into(), json!(asset.symbol));
    answer.insert("address".into(), checksummed(asset.at));
    answer.insert("price_usd".into(), json!(dollars(usd8)));
    answer.insert("source".into(), json!("oracle"));
    let currency = args.text("quote_currency").filter(|currency| !currency.eq_ignore_ascii_case("USD"));
    if let Some(currency) = currency {
        let price = in_currency(builder, usd8, &currency).ok_or_else(|| unpriced(&quote_value(&currency)))?;
        answer.insert("price".into(), json!(price));
        answer.insert("quote_currency".into(), json!(currency));
    }
    Ok(answer)
}

/// Returns a price in another currency, with 8 decimals, if that currency has a price.
fn in_currency(builder: &TxBuilder<'_>, usd8: U256, currency: &str) -> Option<String> {
    let unit = builder.price(currency).or_else(|| builder.price(&format!("W{currency}")))?;
    usd8.checked_mul(U256::from(100_000_000_u64))?.checked_div(unit).map(dollars)
}

pub(super) async fn token(builder: &mut TxBuilder<'_>, args: &ToolArgs<'_>) -> Result<Map<String, Value>, ToolError> {
    let text = requested_token(args)?;
    let mut answer = chain_facts(builder);
    let at = match find_token(builder, &text)? {
        TokenLookup::Known(coin) if coin.is_native() => {
            answer.insert("symbol".into(), json!(coin.symbol));
            answer.insert("name".into(), json!(coin.symbol));
            answer.insert("decimals".into(), json!(coin.decimals));
            coin.at
        }
        TokenLookup::Known(asset) => describe(builder, &mut answer, asset.at, Some(asset.decimals)).await?,
        TokenLookup::Unregistered(at) => {
            if builder.chain.code(at).await?.is_empty() {
                return Err(ToolError::new(
                    ToolErrorCode::NotFound,
                    format!("no contract at {} on chain {}", at.to_checksum(None), builder.id),
                ));
            }
            describe(builder, &mut answer, at, None).await?
        }
    };
    answer.insert("address".into(), checksummed(at));
    answer.insert("known".into(), json!(is_registered(builder, at)));
    Ok(answer)
}

enum TokenLookup {
    Known(AssetInfo),
    Unregistered(Address),
}

fn find_token(builder: &TxBuilder<'_>, text: &str) -> Result<TokenLookup, ToolError> {
    match (builder.asset(text), AddressText::parse(text)) {
        (Ok(asset), _) => Ok(TokenLookup::Known(asset)),
        (Err(_), Some(stranger)) => Ok(TokenLookup::Unregistered(stranger.address)),
        (Err(error), None) => Err(error),
    }
}

/// Adds the token's on-chain metadata; unreadable fields are null.
async fn describe(
    builder: &mut TxBuilder<'_>,
    answer: &mut Map<String, Value>,
    at: Address,
    decimals: Option<u8>,
) -> Result<Address, ToolError> {
    let symbol = try_read(builder, at, &Token::symbolCall {}).await?;
    let name = try_read(builder, at, &Token::nameCall {}).await?;
    let decimals = match decimals {
        Some(decimals) => Some(decimals),
        None => try_read(builder, at, &Token::decimalsCall {}).await?,
    };
    let supply = try_read(builder, at, &Token::totalSupplyCall {}).await?;
    answer.insert("symbol".into(), json!(symbol.map(|text| truncated(&text, LONGEST))));
    answer.insert("name".into(), json!(name.map(|text| truncated(&text, LONGEST))));
    answer.insert("decimals".into(), json!(decimals));
    answer.insert("total_supply".into(), json!(supply.zip(decimals).map(|(supply, decimals)| human(supply, decimals))));
    Ok(at)
}
