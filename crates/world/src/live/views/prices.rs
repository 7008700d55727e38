//! Prices of tokens, and their own metadata.

use super::shared::{about, ask, bounded, dollars, spelled, vouched};
use crate::chain::bindings::Token;
use crate::live::args::Args;
use crate::live::tool_error::{ToolError, shown};
use crate::live::tx_builder::{Asset, TxBuilder, human};
use alloy_primitives::{Address, U256};
use model::AddressText;
use model::transcript::ToolErrorCode;
use serde_json::{Map, Value, json};

/// Characters of a name or symbol that are passed on.
const LONGEST: usize = 200;

fn named(args: &Args<'_>) -> Result<String, ToolError> {
    args.any_token().ok_or_else(|| ToolError::new(ToolErrorCode::InvalidArguments, "the call names no token"))
}

pub(super) fn price(builder: &TxBuilder<'_>, args: &Args<'_>) -> Result<Map<String, Value>, ToolError> {
    let asset = builder.asset(&named(args)?)?;
    let unpriced = |what: &str| ToolError::new(ToolErrorCode::NotFound, format!("no source has a price of {what} on chain {}", builder.id));
    let usd8 = builder.price(&asset.symbol).ok_or_else(|| unpriced(&asset.symbol))?;
    let mut answer = about(builder);
    answer.insert("token".into(), json!(asset.symbol));
    answer.insert("address".into(), spelled(asset.at));
    answer.insert("price_usd".into(), json!(dollars(usd8)));
    answer.insert("source".into(), json!("oracle"));
    let currency = args.text("quote_currency").filter(|currency| !currency.eq_ignore_ascii_case("USD"));
    if let Some(currency) = currency {
        let price = in_currency(builder, usd8, &currency).ok_or_else(|| unpriced(&shown(&currency)))?;
        answer.insert("price".into(), json!(price));
        answer.insert("quote_currency".into(), json!(currency));
    }
    Ok(answer)
}

/// A price in another currency that has one itself, with 8 decimals.
fn in_currency(builder: &TxBuilder<'_>, usd8: U256, currency: &str) -> Option<String> {
    let unit = builder.price(currency).or_else(|| builder.price(&format!("W{currency}")))?;
    usd8.checked_mul(U256::from(100_000_000_u64))?.checked_div(unit).map(dollars)
}

pub(super) async fn token(builder: &mut TxBuilder<'_>, args: &Args<'_>) -> Result<Map<String, Value>, ToolError> {
    let text = named(args)?;
    let mut answer = about(builder);
    let at = match find(builder, &text)? {
        Found::Known(coin) if coin.is_native() => {
            answer.insert("symbol".into(), json!(coin.symbol));
            answer.insert("name".into(), json!(coin.symbol));
            answer.insert("decimals".into(), json!(coin.decimals));
            coin.at
        }
        Found::Known(asset) => describe(builder, &mut answer, asset.at, Some(asset.decimals)).await?,
        Found::Stranger(at) => {
            if builder.chain.code(at).await?.is_empty() {
                return Err(ToolError::new(
                    ToolErrorCode::NotFound,
                    format!("nothing stands at {} on chain {}", at.to_checksum(None), builder.id),
                ));
            }
            describe(builder, &mut answer, at, None).await?
        }
    };
    answer.insert("address".into(), spelled(at));
    answer.insert("known".into(), json!(vouched(builder, at)));
    Ok(answer)
}

enum Found {
    Known(Asset),
    Stranger(Address),
}

fn find(builder: &TxBuilder<'_>, text: &str) -> Result<Found, ToolError> {
    match (builder.asset(text), AddressText::parse(text)) {
        (Ok(asset), _) => Ok(Found::Known(asset)),
        (Err(_), Some(stranger)) => Ok(Found::Stranger(stranger.address)),
        (Err(error), None) => Err(error),
    }
}

/// In the token's own words. What it does not say is null.
async fn describe(
    builder: &mut TxBuilder<'_>,
    answer: &mut Map<String, Value>,
    at: Address,
    decimals: Option<u8>,
) -> Result<Address, ToolError> {
    let symbol = ask(builder, at, &Token::symbolCall {}).await?;
    let name = ask(builder, at, &Token::nameCall {}).await?;
    let decimals = match decimals {
        Some(decimals) => Some(decimals),
        None => ask(builder, at, &Token::decimalsCall {}).await?,
    };
    let supply = ask(builder, at, &Token::totalSupplyCall {}).await?;
    answer.insert("symbol".into(), json!(symbol.map(|text| bounded(&text, LONGEST))));
    answer.insert("name".into(), json!(name.map(|text| bounded(&text, LONGEST))));
    answer.insert("decimals".into(), json!(decimals));
    answer.insert("total_supply".into(), json!(supply.zip(decimals).map(|(supply, decimals)| human(supply, decimals))));
    Ok(at)
}
