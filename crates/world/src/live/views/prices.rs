//! What a token is worth and what it says of itself.

use super::{about, ask, bounded, dollars, spelled, vouched};
use crate::live::args::Args;
use crate::live::desk::{Asset, Desk, human};
use crate::live::fault::{Fault, shown};
use alloy_primitives::{Address, U256};
use alloy_sol_types::sol;
use model::AddressText;
use serde_json::{Map, Value, json};

sol! {
    interface Described {
        function name() external view returns (string);
        function symbol() external view returns (string);
        function decimals() external view returns (uint8);
        function totalSupply() external view returns (uint256);
    }
}

/// Characters of a name or symbol that are passed on.
const LONGEST: usize = 200;

fn named(args: &Args<'_>) -> Result<String, Fault> {
    args.any_token().ok_or_else(|| Fault::new("VALIDATION_INVALID_ARGUMENTS", "the call names no token"))
}

pub(super) fn price(desk: &Desk<'_>, args: &Args<'_>) -> Result<Map<String, Value>, Fault> {
    let asset = desk.asset(&named(args)?)?;
    let unpriced = |what: &str| Fault::new("DATA_NOT_FOUND", format!("no source has a price of {what} on chain {}", desk.id));
    let usd8 = desk.price(&asset.symbol).ok_or_else(|| unpriced(&asset.symbol))?;
    let mut answer = about(desk);
    answer.insert("token".into(), json!(asset.symbol));
    answer.insert("address".into(), spelled(asset.at));
    answer.insert("price_usd".into(), json!(dollars(usd8)));
    answer.insert("source".into(), json!("oracle"));
    let currency = args.text("quote_currency").filter(|currency| !currency.eq_ignore_ascii_case("USD"));
    if let Some(currency) = currency {
        let price = in_currency(desk, usd8, &currency).ok_or_else(|| unpriced(&shown(&currency)))?;
        answer.insert("price".into(), json!(price));
        answer.insert("quote_currency".into(), json!(currency));
    }
    Ok(answer)
}

/// A price in another currency that has one itself, with 8 decimals.
fn in_currency(desk: &Desk<'_>, usd8: U256, currency: &str) -> Option<String> {
    let unit = desk.price(currency).or_else(|| desk.price(&format!("W{currency}")))?;
    usd8.checked_mul(U256::from(100_000_000_u64))?.checked_div(unit).map(dollars)
}

pub(super) async fn token(desk: &mut Desk<'_>, args: &Args<'_>) -> Result<Map<String, Value>, Fault> {
    let text = named(args)?;
    let mut answer = about(desk);
    let at = match find(desk, &text)? {
        Found::Known(coin) if coin.is_native() => {
            answer.insert("symbol".into(), json!(coin.symbol));
            answer.insert("name".into(), json!(coin.symbol));
            answer.insert("decimals".into(), json!(coin.decimals));
            coin.at
        }
        Found::Known(asset) => describe(desk, &mut answer, asset.at, Some(asset.decimals)).await?,
        Found::Stranger(at) => {
            if desk.chain.code(at).await?.is_empty() {
                return Err(Fault::new("DATA_NOT_FOUND", format!("nothing stands at {} on chain {}", at.to_checksum(None), desk.id)));
            }
            describe(desk, &mut answer, at, None).await?
        }
    };
    answer.insert("address".into(), spelled(at));
    answer.insert("known".into(), json!(vouched(desk, at)));
    Ok(answer)
}

enum Found {
    Known(Asset),
    Stranger(Address),
}

fn find(desk: &Desk<'_>, text: &str) -> Result<Found, Fault> {
    match (desk.asset(text), AddressText::parse(text)) {
        (Ok(asset), _) => Ok(Found::Known(asset)),
        (Err(_), Some(stranger)) => Ok(Found::Stranger(stranger.address)),
        (Err(fault), None) => Err(fault),
    }
}

/// In the token's own words. What it does not say is null.
async fn describe(desk: &mut Desk<'_>, answer: &mut Map<String, Value>, at: Address, decimals: Option<u8>) -> Result<Address, Fault> {
    let symbol = ask(desk, at, &Described::symbolCall {}).await?;
    let name = ask(desk, at, &Described::nameCall {}).await?;
    let decimals = match decimals {
        Some(decimals) => Some(decimals),
        None => ask(desk, at, &Described::decimalsCall {}).await?,
    };
    let supply = ask(desk, at, &Described::totalSupplyCall {}).await?;
    answer.insert("symbol".into(), json!(symbol.map(|text| bounded(&text, LONGEST))));
    answer.insert("name".into(), json!(name.map(|text| bounded(&text, LONGEST))));
    answer.insert("decimals".into(), json!(decimals));
    answer.insert("total_supply".into(), json!(supply.zip(decimals).map(|(supply, decimals)| human(supply, decimals))));
    Ok(at)
}
