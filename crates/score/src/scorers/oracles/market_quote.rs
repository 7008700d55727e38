//! Price and side of the market that an order names: by its name, or by the key of a position or the address of a market that the world lists.

use crate::evidence::Evidence;
use crate::facts::amounts::case_world;
use crate::facts::world_answers::world_answers;
use model::{IdKind, ParamKind, Tool};
use serde_json::{Map, Value};

/// Price of a market in the world, and the direction of the position.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct MarketQuote<'a> {
    pub price: f64,
    /// `long` or `short`, where the order or the world says so.
    pub side: Option<&'a str>,
}

/// Returns the quote of the market that a call names; `None` if the world does not know the market or has no price for it.
pub(super) fn market_quote<'a>(evidence: &Evidence<'a>, tool: &Tool, args: &'a Value) -> Option<MarketQuote<'a>> {
    let ids = tool.params.iter().filter(|(_, param)| matches!(param.kind, Some(ParamKind::Id(IdKind::Market | IdKind::Position))));
    let ids: Vec<&str> = ids.filter_map(|(name, _)| args.get(name)?.as_str()).map(str::trim).filter(|id| !id.is_empty()).collect();
    let entries: Vec<&Map<String, Value>> =
        listings(evidence).into_iter().filter(|entry| ids.iter().any(|id| has_text(entry, id))).collect();
    let named = ids.iter().find_map(|id| market_price(evidence, id));
    let price = named.or_else(|| entries.iter().flat_map(|entry| texts(entry)).find_map(|text| pair_price(evidence, text)))?;
    let of_call = args.as_object().into_iter().flat_map(texts).find(|text| is_side(text));
    let side = of_call.or_else(|| entries.iter().flat_map(|entry| texts(entry)).find(|text| is_side(text)));
    Some(MarketQuote { price, side })
}

fn is_side(text: &str) -> bool {
    matches!(text, "long" | "short")
}

/// Returns the price of the first asset of a pair: of ETH in ETH/USD.
fn pair_price(evidence: &Evidence<'_>, text: &str) -> Option<f64> {
    if text.contains('/') { market_price(evidence, text) } else { None }
}

/// Returns the price of a market by its name: ETH/USD, ETH-USD or ETH.
fn market_price(evidence: &Evidence<'_>, name: &str) -> Option<f64> {
    let asset = name.split(['/', '-', ':', ' ']).next()?;
    let is_asset = |symbol: &str| symbol.eq_ignore_ascii_case(asset) || symbol.eq_ignore_ascii_case(&format!("W{asset}"));
    let prices = &case_world(evidence)?.prices;
    let price: f64 = prices.iter().find(|(symbol, _)| is_asset(symbol))?.1.parse().ok()?;
    (price.is_finite() && price > 0.0).then_some(price)
}

/// Returns all mappings in the answers of the world, at every depth.
fn listings<'a>(evidence: &Evidence<'a>) -> Vec<&'a Map<String, Value>> {
    let mut found = vec![];
    world_answers(evidence).for_each(|answer| collect_mappings(answer, &mut found));
    found
}

fn collect_mappings<'a>(value: &'a Value, found: &mut Vec<&'a Map<String, Value>>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect_mappings(item, found)),
        Value::Object(entries) => {
            found.push(entries);
            entries.values().for_each(|value| collect_mappings(value, found));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn has_text(entry: &Map<String, Value>, wanted: &str) -> bool {
    texts(entry).any(|text| text.eq_ignore_ascii_case(wanted))
}

/// Returns the texts of a mapping itself.
fn texts(entry: &Map<String, Value>) -> impl Iterator<Item = &str> {
    entry.values().filter_map(Value::as_str)
}
