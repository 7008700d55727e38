//! Fits mentions to parameters by type and converts them to the parameter's format.

use crate::lexicon::NameLexicon;
use crate::mention_value::MentionValue;
use crate::mentions::TypedMention;
use crate::param_slots::ParamSlot;
use model::{AddressRole, AddressText, AmountUnit, Decimal, DurationUnit, ParamKind};
use serde_json::{Number, Value, json};

/// Value with its type score.
pub(crate) type ScoredValue = (f64, Value);

/// Context of a fit: `paired` is the token after a number, `decimals` belong to the asset that the parameter counts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FitContext<'b> {
    pub lexicon: &'b NameLexicon,
    pub counted_symbol: Option<&'b str>,
    pub decimals: Option<u8>,
}

pub(crate) fn fit_value(slot: &ParamSlot, kind: &ParamKind, mention: &TypedMention, context: FitContext<'_>) -> Option<ScoredValue> {
    fit_by_type(slot, kind, mention, context).filter(|(_, value)| slot.allows_value(value))
}

fn fit_by_type(slot: &ParamSlot, kind: &ParamKind, mention: &TypedMention, context: FitContext<'_>) -> Option<ScoredValue> {
    let numeric = slot.numeric || slot.item_numeric;
    match kind {
        ParamKind::Address(role) => address(*role, &mention.value, context),
        ParamKind::Token(_) => token(&mention.value, context),
        ParamKind::Chain(_) => chain(&mention.value, numeric, context),
        ParamKind::Amount { unit, .. } => amount(slot, *unit, &mention.value, context),
        ParamKind::Bps => share(slot, &mention.value, 0),
        ParamKind::Percent => share(slot, &mention.value, -2),
        ParamKind::Ratio => ratio(slot, &mention.value),
        ParamKind::Number => plain_number(slot, &mention.value),
        ParamKind::Price(_) => price(slot, &mention.value, context),
        ParamKind::Tick(_) => whole(slot, &mention.value, 0.5),
        ParamKind::FeeTier => fee_tier(slot, &mention.value),
        ParamKind::Deadline => span(slot, &mention.value, DurationUnit::Seconds),
        ParamKind::Duration(unit) => span(slot, &mention.value, *unit),
        ParamKind::Timestamp => {
            if let MentionValue::Date(date) = &mention.value {
                Some((1.0, json!(date)))
            } else {
                None
            }
        }
        ParamKind::Count => {
            if context.counted_symbol.is_some() {
                None
            } else {
                whole(slot, &mention.value, 0.3)
            }
        }
        ParamKind::Id(_) => id(slot, &mention.value, context),
        ParamKind::Data => {
            if let MentionValue::Hex(hex) = &mention.value {
                Some((1.0, json!(hex)))
            } else {
                None
            }
        }
        ParamKind::Url => {
            if let MentionValue::Url(url) = &mention.value {
                Some((1.0, json!(url)))
            } else {
                None
            }
        }
        ParamKind::List(item) => fit_by_type(slot, item, mention, context),
        ParamKind::Flag | ParamKind::Enum | ParamKind::Text | ParamKind::Object => None,
    }
}

/// Fits an address. A wrong checksum is kept, so that the tool can reject it.
fn address(role: AddressRole, what: &MentionValue, context: FitContext<'_>) -> Option<ScoredValue> {
    let MentionValue::Address(text) = what else { return None };
    let parsed = AddressText::parse(text)?;
    let one_case = !text[2..].bytes().any(|byte| byte.is_ascii_uppercase()) || !text[2..].bytes().any(|byte| byte.is_ascii_lowercase());
    let written = if one_case { parsed.to_checksum() } else { text.clone() };
    let known_token = context.lexicon.token_by_address(text).is_some();
    Some((if known_token == (role == AddressRole::Token) { 1.0 } else { 0.5 }, json!(written)))
}

fn token(what: &MentionValue, context: FitContext<'_>) -> Option<ScoredValue> {
    match what {
        MentionValue::Token(symbol) => Some((1.0, json!(symbol))),
        MentionValue::Address(text) => Some((if context.lexicon.token_by_address(text).is_some() { 0.9 } else { 0.45 }, json!(text))),
        _ => None,
    }
}

fn chain(what: &MentionValue, numeric: bool, context: FitContext<'_>) -> Option<ScoredValue> {
    let (id, score) = match what {
        MentionValue::Chain(id) => (*id, 1.0),
        // "8453:1842": registered ids start with the chain id.
        MentionValue::Id(text) => {
            (text.split_once(':').and_then(|(chain, _)| chain.parse().ok()).filter(|id| context.lexicon.is_chain(*id))?, 0.4)
        }
        MentionValue::Address(text) => (context.lexicon.token_by_address(text)?.1, 0.35),
        _ => return None,
    };
    if numeric {
        return Some((score, json!(id)));
    }
    context.lexicon.chain_name(id).map(|name| (score, json!(name)))
}

fn amount(slot: &ParamSlot, unit: AmountUnit, what: &MentionValue, context: FitContext<'_>) -> Option<ScoredValue> {
    let written = |number: &Decimal| if slot.numeric { number_value(number, slot.integer) } else { Some(json!(number.to_string())) };
    match (unit, what) {
        (AmountUnit::Usd, MentionValue::Dollars(number)) => Some((1.2, written(number)?)),
        (AmountUnit::Usd, MentionValue::Number(number)) => {
            Some((if context.counted_symbol.is_some() { 0.3 } else { 0.5 }, written(number)?))
        }
        (AmountUnit::Base, MentionValue::Number(number)) => {
            let base = number.clone().shifted(i64::from(context.decimals?));
            base.is_whole().then(|| (if context.counted_symbol.is_some() { 1.3 } else { 0.7 }, json!(base.to_string())))
        }
        (AmountUnit::Human | AmountUnit::Shares, MentionValue::Number(number)) => {
            Some((if context.counted_symbol.is_some() { 1.3 } else { 0.8 }, written(number)?))
        }
        (AmountUnit::Human, MentionValue::Dollars(number)) => Some((0.45, written(number)?)),
        (AmountUnit::Human | AmountUnit::Shares | AmountUnit::Usd, MentionValue::All) if slot.accepts_max => Some((0.9, json!("max"))),
        _ => None,
    }
}

fn share(slot: &ParamSlot, what: &MentionValue, places: i64) -> Option<ScoredValue> {
    let (score, number) = match what {
        MentionValue::BasisPoints(bps) | MentionValue::Fraction(bps) => {
            (if matches!(what, MentionValue::BasisPoints(_)) { 1.0 } else { 0.7 }, bps.clone().shifted(places))
        }
        MentionValue::All if places == -2 => (0.7, Decimal::from(100)),
        MentionValue::Number(number) => (0.25, number.clone()),
        _ => return None,
    };
    fit_bounded(slot, score, &number)
}

fn ratio(slot: &ParamSlot, what: &MentionValue) -> Option<ScoredValue> {
    match what {
        MentionValue::Multiple(number) => fit_bounded(slot, 1.1, number),
        MentionValue::Number(number) => fit_bounded(slot, 0.5, number),
        MentionValue::BasisPoints(bps) | MentionValue::Fraction(bps) => fit_bounded(slot, 0.9, &bps.clone().shifted(-4)),
        _ => None,
    }
}

fn plain_number(slot: &ParamSlot, what: &MentionValue) -> Option<ScoredValue> {
    let MentionValue::Number(number) = what else { return None };
    if slot.numeric || slot.item_numeric { fit_bounded(slot, 0.4, number) } else { Some((0.4, json!(number.to_string()))) }
}

fn price(slot: &ParamSlot, what: &MentionValue, context: FitContext<'_>) -> Option<ScoredValue> {
    let (score, number) = match what {
        MentionValue::Dollars(number) => (0.8, number),
        MentionValue::Number(number) => (if context.counted_symbol.is_some() { 0.35 } else { 0.6 }, number),
        _ => return None,
    };
    if slot.numeric { fit_bounded(slot, score, number) } else { Some((score, json!(number.to_string()))) }
}

fn fee_tier(slot: &ParamSlot, what: &MentionValue) -> Option<ScoredValue> {
    match what {
        MentionValue::BasisPoints(bps) => fit_bounded(slot, 0.9, &bps.clone().shifted(2)),
        MentionValue::Number(number) => fit_bounded(slot, 0.25, number),
        _ => None,
    }
}

fn whole(slot: &ParamSlot, what: &MentionValue, score: f64) -> Option<ScoredValue> {
    let MentionValue::Number(number) = what else { return None };
    if number.is_whole() { fit_bounded(slot, score, number) } else { None }
}

fn span(slot: &ParamSlot, what: &MentionValue, unit: DurationUnit) -> Option<ScoredValue> {
    match what {
        MentionValue::Duration { text, .. } if unit == DurationUnit::Text || !slot.numeric => Some((1.0, json!(text))),
        MentionValue::Duration { seconds, .. } => {
            let number = match unit {
                DurationUnit::Milliseconds => seconds * 1000,
                DurationUnit::Seconds | DurationUnit::Text => *seconds,
                DurationUnit::Hours => seconds / 3600,
                DurationUnit::Days => seconds / 86_400,
            };
            slot.is_in_range(number as f64).then(|| (1.0, json!(number)))
        }
        MentionValue::Number(_) if slot.numeric => whole(slot, what, 0.2),
        _ => None,
    }
}

fn id(slot: &ParamSlot, what: &MentionValue, context: FitContext<'_>) -> Option<ScoredValue> {
    let written = |text: &str| if slot.numeric { text.parse::<i64>().ok().map(Value::from) } else { Some(json!(text)) };
    match what {
        MentionValue::Id(text) => Some((1.0, written(text)?)),
        MentionValue::Hex(text) => Some((0.9, written(text)?)),
        MentionValue::Address(text) => Some((0.5, written(text)?)),
        MentionValue::Number(number) if context.counted_symbol.is_none() && number.is_whole() => Some((0.6, written(&number.to_string())?)),
        _ => None,
    }
}

fn fit_bounded(slot: &ParamSlot, score: f64, number: &Decimal) -> Option<ScoredValue> {
    if !slot.is_in_range(number.as_f64()) {
        return None;
    }
    number_value(number, slot.integer).map(|value| (score, value))
}

fn number_value(number: &Decimal, whole: bool) -> Option<Value> {
    if whole || number.is_whole() {
        return number.as_i64().map(Value::from);
    }
    Number::from_f64(number.as_f64()).map(Value::Number)
}
