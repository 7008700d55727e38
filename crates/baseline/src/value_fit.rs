//! Whether something that was said can be the value of a parameter, and how it is then written.

use super::lexicon::Lexicon;
use super::mentions::{Mention, What};
use super::param_slots::Slot;
use model::{AddressRole, AddressText, Decimal, DurationUnit, Kind, Unit};
use serde_json::{Number, Value, json};

/// A value and how well it fits by its type alone.
pub(super) type Fit = (f64, Value);

/// `paired` is the token a number stands before, `decimals` those of the asset the parameter counts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Beside<'b> {
    pub lexicon: &'b Lexicon,
    pub paired: Option<&'b str>,
    pub decimals: Option<u8>,
}

pub(super) fn fit(slot: &Slot, kind: &Kind, mention: &Mention, beside: Beside<'_>) -> Option<Fit> {
    by_type(slot, kind, mention, beside).filter(|(_, value)| slot.lists(value))
}

fn by_type(slot: &Slot, kind: &Kind, mention: &Mention, beside: Beside<'_>) -> Option<Fit> {
    let numeric = slot.numeric || slot.item_numeric;
    match kind {
        Kind::Address(role) => address(*role, &mention.what, beside),
        Kind::Token(_) => token(&mention.what, beside),
        Kind::Chain(_) => chain(&mention.what, numeric, beside),
        Kind::Amount { unit, .. } => amount(slot, *unit, &mention.what, beside),
        Kind::Bps => share(slot, &mention.what, 0),
        Kind::Percent => share(slot, &mention.what, -2),
        Kind::Ratio => ratio(slot, &mention.what),
        Kind::Price(_) => price(slot, &mention.what, beside),
        Kind::Tick(_) => whole(slot, &mention.what, 0.5),
        Kind::FeeTier => fee_tier(slot, &mention.what),
        Kind::Deadline => span(slot, &mention.what, DurationUnit::Seconds),
        Kind::Duration(unit) => span(slot, &mention.what, *unit),
        Kind::Timestamp => {
            if let What::Date(date) = &mention.what {
                Some((1.0, json!(date)))
            } else {
                None
            }
        }
        Kind::Count => {
            if beside.paired.is_some() {
                None
            } else {
                whole(slot, &mention.what, 0.3)
            }
        }
        Kind::Id(_) => id(slot, &mention.what, beside),
        Kind::Data => {
            if let What::Hex(hex) = &mention.what {
                Some((1.0, json!(hex)))
            } else {
                None
            }
        }
        Kind::Url => {
            if let What::Url(url) = &mention.what {
                Some((1.0, json!(url)))
            } else {
                None
            }
        }
        Kind::List(item) => by_type(slot, item, mention, beside),
        Kind::Flag | Kind::Enum | Kind::Text | Kind::Object => None,
    }
}

/// A wrong checksum is kept as it was written: whoever reads it shall see it.
fn address(role: AddressRole, what: &What, beside: Beside<'_>) -> Option<Fit> {
    let What::Address(text) = what else { return None };
    let parsed = AddressText::parse(text)?;
    let one_case = !text[2..].bytes().any(|byte| byte.is_ascii_uppercase()) || !text[2..].bytes().any(|byte| byte.is_ascii_lowercase());
    let written = if one_case { parsed.checksummed() } else { text.clone() };
    let known_token = beside.lexicon.at_address(text).is_some();
    Some((if known_token == (role == AddressRole::Token) { 1.0 } else { 0.5 }, json!(written)))
}

fn token(what: &What, beside: Beside<'_>) -> Option<Fit> {
    match what {
        What::Token(symbol) => Some((1.0, json!(symbol))),
        What::Address(text) => Some((if beside.lexicon.at_address(text).is_some() { 0.9 } else { 0.45 }, json!(text))),
        _ => None,
    }
}

fn chain(what: &What, numeric: bool, beside: Beside<'_>) -> Option<Fit> {
    let (id, score) = match what {
        What::Chain(id) => (*id, 1.0),
        // "8453:1842": what is registered on a chain is numbered under it.
        What::Id(text) => (text.split_once(':').and_then(|(chain, _)| chain.parse().ok()).filter(|id| beside.lexicon.is_chain(*id))?, 0.4),
        What::Address(text) => (beside.lexicon.at_address(text)?.1, 0.35),
        _ => return None,
    };
    if numeric {
        return Some((score, json!(id)));
    }
    beside.lexicon.chain_name(id).map(|name| (score, json!(name)))
}

fn amount(slot: &Slot, unit: Unit, what: &What, beside: Beside<'_>) -> Option<Fit> {
    let written = |number: &Decimal| if slot.numeric { number_value(number, slot.whole) } else { Some(json!(number.to_string())) };
    match (unit, what) {
        (Unit::Usd, What::Dollars(number)) => Some((1.2, written(number)?)),
        (Unit::Usd, What::Number(number)) => Some((if beside.paired.is_some() { 0.3 } else { 0.5 }, written(number)?)),
        (Unit::Base, What::Number(number)) => {
            let base = number.clone().shifted(i64::from(beside.decimals?));
            base.is_whole().then(|| (if beside.paired.is_some() { 1.3 } else { 0.7 }, json!(base.to_string())))
        }
        (Unit::Human | Unit::Shares, What::Number(number)) => Some((if beside.paired.is_some() { 1.3 } else { 0.8 }, written(number)?)),
        (Unit::Human, What::Dollars(number)) => Some((0.45, written(number)?)),
        (Unit::Human | Unit::Shares | Unit::Usd, What::All) if slot.takes_max => Some((0.9, json!("max"))),
        _ => None,
    }
}

fn share(slot: &Slot, what: &What, places: i64) -> Option<Fit> {
    let (score, number) = match what {
        What::Share(bps) | What::Part(bps) => (if matches!(what, What::Share(_)) { 1.0 } else { 0.7 }, bps.clone().shifted(places)),
        What::All if places == -2 => (0.7, Decimal::from(100)),
        What::Number(number) => (0.25, number.clone()),
        _ => return None,
    };
    bounded(slot, score, &number)
}

fn ratio(slot: &Slot, what: &What) -> Option<Fit> {
    match what {
        What::Times(number) => bounded(slot, 1.1, number),
        What::Number(number) => bounded(slot, 0.5, number),
        What::Share(bps) | What::Part(bps) => bounded(slot, 0.9, &bps.clone().shifted(-4)),
        _ => None,
    }
}

fn price(slot: &Slot, what: &What, beside: Beside<'_>) -> Option<Fit> {
    let (score, number) = match what {
        What::Dollars(number) => (0.8, number),
        What::Number(number) => (if beside.paired.is_some() { 0.35 } else { 0.6 }, number),
        _ => return None,
    };
    if slot.numeric { bounded(slot, score, number) } else { Some((score, json!(number.to_string()))) }
}

fn fee_tier(slot: &Slot, what: &What) -> Option<Fit> {
    match what {
        What::Share(bps) => bounded(slot, 0.9, &bps.clone().shifted(2)),
        What::Number(number) => bounded(slot, 0.25, number),
        _ => None,
    }
}

fn whole(slot: &Slot, what: &What, score: f64) -> Option<Fit> {
    let What::Number(number) = what else { return None };
    if number.is_whole() { bounded(slot, score, number) } else { None }
}

fn span(slot: &Slot, what: &What, unit: DurationUnit) -> Option<Fit> {
    match what {
        What::Span { text, .. } if unit == DurationUnit::Text || !slot.numeric => Some((1.0, json!(text))),
        What::Span { seconds, .. } => {
            let number = match unit {
                DurationUnit::Milliseconds => seconds * 1000,
                DurationUnit::Seconds | DurationUnit::Text => *seconds,
                DurationUnit::Hours => seconds / 3600,
                DurationUnit::Days => seconds / 86_400,
            };
            slot.within(number as f64).then(|| (1.0, json!(number)))
        }
        What::Number(_) if slot.numeric => whole(slot, what, 0.2),
        _ => None,
    }
}

fn id(slot: &Slot, what: &What, beside: Beside<'_>) -> Option<Fit> {
    let written = |text: &str| if slot.numeric { text.parse::<i64>().ok().map(Value::from) } else { Some(json!(text)) };
    match what {
        What::Id(text) => Some((1.0, written(text)?)),
        What::Hex(text) => Some((0.9, written(text)?)),
        What::Address(text) => Some((0.5, written(text)?)),
        What::Number(number) if beside.paired.is_none() && number.is_whole() => Some((0.6, written(&number.to_string())?)),
        _ => None,
    }
}

fn bounded(slot: &Slot, score: f64, number: &Decimal) -> Option<Fit> {
    if !slot.within(number.as_f64()) {
        return None;
    }
    number_value(number, slot.whole).map(|value| (score, value))
}

fn number_value(number: &Decimal, whole: bool) -> Option<Value> {
    if whole || number.is_whole() {
        return number.as_i64().map(Value::from);
    }
    Number::from_f64(number.as_f64()).map(Value::Number)
}
