//! Percentages and basis points in the words and parameters of a delegation.

use crate::compare::ValueMeaning;
use model::Decimal;
use serde_json::{Map, Value};

/// Words between the word slippage and its figure.
const MAX_DISTANCE: usize = 6;

/// Share in a text, with the position of its word.
struct StatedShare {
    at: usize,
    bps: Decimal,
}

/// Returns the slippage that a delegation states: under a key that names it, or else the share next to the word in a text.
pub(crate) fn stated_slippage(params: &Map<String, Value>) -> Vec<ValueMeaning> {
    let keyed =
        params.iter().filter(|(key, _)| key.to_lowercase().contains("slippage")).filter_map(|(key, value)| share_of_key(key, value));
    let keyed: Vec<ValueMeaning> = keyed.map(ValueMeaning::Share).collect();
    if keyed.is_empty() { params.values().flat_map(texts).flat_map(slippage_in_text).collect() } else { keyed }
}

/// Returns every share that a delegation states in words, or under a key that names its unit.
pub(crate) fn stated_shares(params: &Map<String, Value>) -> Vec<ValueMeaning> {
    let keyed = params.iter().filter_map(|(key, value)| share_of_key(key, value));
    let told = params.values().flat_map(texts).flat_map(|text| shares_in_text(text).into_iter().map(|share| share.bps));
    keyed.chain(told).map(ValueMeaning::Share).collect()
}

/// Returns the basis points of a value with a unit, in itself or in its key.
fn share_of_key(key: &str, value: &Value) -> Option<Decimal> {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let key = key.to_lowercase();
    let in_bps = key.contains("bps");
    let has_unit = in_bps || key.contains("percent") || key.contains("pct");
    let bare = || number(text.trim()).filter(|_| has_unit).map(|number| number.shifted(if in_bps { 0 } else { 2 }));
    shares_in_text(&text).into_iter().next().map(|share| share.bps).or_else(bare)
}

fn slippage_in_text(text: &str) -> Vec<ValueMeaning> {
    let shares = shares_in_text(text);
    let mentions = words(text).into_iter().enumerate().filter(|(_, word)| word.to_lowercase().starts_with("slippage"));
    let nearest = |at: usize| shares.iter().min_by_key(|share| share.at.abs_diff(at)).filter(|share| share.at.abs_diff(at) <= MAX_DISTANCE);
    mentions.filter_map(|(at, _)| nearest(at)).map(|share| ValueMeaning::Share(share.bps.clone())).collect()
}

fn shares_in_text(text: &str) -> Vec<StatedShare> {
    let words: Vec<String> = words(text).into_iter().map(str::to_lowercase).collect();
    let places = |unit: &str| match unit {
        "%" | "percent" | "pct" => Some(2),
        "bps" | "bp" | "basis" => Some(0),
        _ => None,
    };
    let share = |(at, word): (usize, &String)| {
        let end = word.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ','))).unwrap_or(word.len());
        let (figure, glued) = word.split_at(end);
        let unit = if glued.is_empty() { words.get(at + 1).map(String::as_str) } else { Some(glued) };
        Some(StatedShare { at, bps: number(figure)?.shifted(places(unit?)?) })
    };
    words.iter().enumerate().filter_map(share).collect()
}

fn words(text: &str) -> Vec<&str> {
    text.split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric() && c != '%'))
        .filter(|word| !word.is_empty())
        .collect()
}

/// Parses a number with a decimal point or comma.
fn number(text: &str) -> Option<Decimal> {
    Decimal::parse_strict(&text.replace(',', "."))
}

fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        Value::Object(fields) => fields.values().flat_map(texts).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => vec![],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn slippage(params: Value) -> Vec<ValueMeaning> {
        stated_slippage(params.as_object().unwrap_or(&Map::new()))
    }

    #[test]
    fn slippage_is_read_in_any_unit() {
        let bps = |bps: u64| vec![ValueMeaning::Share(Decimal::from(bps))];
        for stated in [
            json!({"task": "Buy LINK with 90 USDC, slippage at most 0.5%."}),
            json!({"task": "Sell 50% of it, slippage 0,5 % (50 bps)"}),
            json!({"task": "max 50bps slippage"}),
            json!({"slippage": "0.5%"}),
            json!({"max_slippage_percent": 0.5}),
            json!({"max_slippage_bps": "50"}),
        ] {
            assert_eq!(slippage(stated.clone()), bps(50), "{stated}");
        }
        assert_eq!(slippage(json!({"task": "slippage at most 5%"})), bps(500));
        assert_eq!(slippage(json!({"slippage_bps": 100, "task": "slippage 0.5%"})), bps(100), "the key wins");
        for nothing in [json!({"task": "Sell 0.5% of it."}), json!({"slippage": 0.5}), json!({"task": "low slippage"})] {
            assert!(slippage(nothing.clone()).is_empty(), "{nothing}");
        }
    }
}
