//! Canonical meaning of a value by its parameter kind. Two values are equal if their meanings are.

use model::{
    AddressText, AmountUnit, ChainRegistry, Decimal, ParamKind, RegistryToken, StatedDeadline, Workspace, parse_duration_ms,
    parse_instant_ms,
};
use serde_json::Value;

/// Canonical form of a value. A value that cannot be parsed keeps its text and equals only itself.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum ValueMeaning {
    /// Lower-case hex.
    Address(String),
    /// Lower-case symbol.
    Token(String),
    Chain(u64),
    /// Whole tokens.
    Amount(Decimal),
    /// Base units of an asset with unknown decimals.
    Units(Decimal),
    /// The whole balance, or no limit.
    Max,
    /// Basis points.
    Share(Decimal),
    Number(Decimal),
    /// Milliseconds.
    Time(Decimal),
    Word(String),
    List(Vec<ValueMeaning>),
    /// Canonical JSON: keys sorted, numbers in one notation.
    Json(String),
}

impl ValueMeaning {
    /// Returns whether this is the same kind of quantity as the bound and not greater. Without a kind, numbers are compared.
    pub(crate) fn is_at_most(&self, bound: &Self) -> bool {
        match (self, bound) {
            (_, ValueMeaning::Max) => matches!(self, ValueMeaning::Max | ValueMeaning::Amount(_) | ValueMeaning::Units(_)),
            (ValueMeaning::Amount(value), ValueMeaning::Amount(bound))
            | (ValueMeaning::Units(value), ValueMeaning::Units(bound))
            | (ValueMeaning::Share(value), ValueMeaning::Share(bound))
            | (ValueMeaning::Number(value), ValueMeaning::Number(bound))
            | (ValueMeaning::Time(value), ValueMeaning::Time(bound)) => value <= bound,
            (ValueMeaning::Json(value), ValueMeaning::Json(bound)) => {
                let number = |json: &str| Decimal::parse(json.trim_matches('"'));
                number(value).zip(number(bound)).is_some_and(|(value, bound)| value <= bound)
            }
            (_, _) => false,
        }
    }
}

/// Chain and asset of the call, which the meaning of addresses and amounts depends on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ValueContext<'a> {
    pub(crate) workspace: &'a Workspace,
    pub(crate) chain: Option<&'a ChainRegistry>,
    pub(crate) asset: Option<AssetDecimals<'a>>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct AssetDecimals<'a> {
    symbol: &'a str,
    decimals: u8,
}

/// Placeholder addresses for the native coin.
const NATIVE_ADDRESSES: [&str; 2] = ["0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee", "0x0000000000000000000000000000000000000000"];

pub(crate) fn meaning(context: &ValueContext<'_>, kind: Option<&ParamKind>, value: &Value) -> ValueMeaning {
    let Some(kind) = kind else { return json(value) };
    // A structure in place of a scalar is compared as JSON.
    if !value.is_string() && !value.is_number() && !matches!(kind, ParamKind::List(_)) {
        return json(value);
    }
    let text = value_text(value);
    match kind {
        ParamKind::Flag | ParamKind::Object => json(value),
        ParamKind::List(item) => match value {
            Value::Array(items) => ValueMeaning::List(items.iter().map(|one| meaning(context, Some(item), one)).collect()),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => json(value),
        },
        ParamKind::Address(_) => address(&text),
        ParamKind::Data => ValueMeaning::Word(text.to_ascii_lowercase()),
        ParamKind::Token(_) => token(context, &text),
        ParamKind::Chain(_) => chain(context.workspace, &text),
        ParamKind::Amount { unit, .. } => amount(context, *unit, &text),
        ParamKind::Bps => share(&text, 0),
        ParamKind::Percent => share(&text, 2),
        ParamKind::Ratio => share(text.strip_suffix(['x', 'X']).unwrap_or(&text), 4),
        // Hundredths of a basis point.
        ParamKind::FeeTier => share(&text, -2),
        ParamKind::Price(_) => number(text.strip_prefix('$').unwrap_or(&text)),
        ParamKind::Tick(_) | ParamKind::Count | ParamKind::Number => number(&text),
        ParamKind::Deadline => deadline(&text),
        ParamKind::Duration(unit) => parse_duration_ms(&text, *unit).map_or_else(|| normalized_text(&text), ValueMeaning::Time),
        ParamKind::Timestamp => {
            let unix = Decimal::parse(&text).map(|seconds| seconds.shifted(3));
            unix.or_else(|| parse_instant_ms(&text)).map_or_else(|| normalized_text(&text), ValueMeaning::Time)
        }
        ParamKind::Id(_) => id(&text),
        ParamKind::Enum => ValueMeaning::Word(text.to_lowercase()),
        ParamKind::Text => normalized_text(&text),
        ParamKind::Url => ValueMeaning::Word(text.trim_end_matches('/').to_owned()),
    }
}

/// Returns a JSON string or number as text, without quotes.
fn value_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => Decimal::from_json(number).map_or_else(|| number.to_string(), |number| number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}

/// Returns the meaning of an entry of a mapping, which depends on its key.
pub(super) fn entry_meaning(key: &str, value: &Value) -> ValueMeaning {
    json(&Value::Object([(key.to_owned(), value.clone())].into_iter().collect()))
}

fn json(value: &Value) -> ValueMeaning {
    let mut sorted = canonical_json(value, false);
    sorted.sort_all_objects();
    ValueMeaning::Json(sorted.to_string())
}

/// Parts of keys whose values are quantities, as text or number.
const QUANTITY_KEYS: [&str; 14] =
    ["amount", "size", "quantity", "value", "price", "usd", "bps", "percent", "limit", "weight", "threshold", "cap", "supply", "days"];

/// Writes one spelling at every depth: whole floats as integers, so that 5 equals 5.0, addresses in lower case unless their checksum is
/// wrong, and quantities, known by their key, as decimals, so that "12,000" equals 12000. Other texts stay as they are.
fn canonical_json(value: &Value, is_quantity: bool) -> Value {
    match value {
        Value::Number(_) | Value::String(_) if is_quantity && Decimal::parse(&value_text(value)).is_some() => {
            Decimal::parse(&value_text(value)).map_or_else(|| value.clone(), |number| Value::String(number.to_string()))
        }
        Value::Number(number) if number.is_f64() => {
            let whole = Decimal::from_json(number).and_then(|number| number.as_i64());
            whole.map_or_else(|| value.clone(), Value::from)
        }
        Value::String(text) => match address_spelling(text) {
            AddressSpelling::Hex(hex) => Value::String(hex),
            AddressSpelling::WrongChecksum | AddressSpelling::NoAddress => value.clone(),
        },
        Value::Array(items) => Value::Array(items.iter().map(|item| canonical_json(item, is_quantity)).collect()),
        Value::Object(entries) => {
            let quantity = |key: &str| QUANTITY_KEYS.iter().any(|part| key.to_lowercase().contains(part));
            Value::Object(entries.iter().map(|(key, value)| (key.clone(), canonical_json(value, quantity(key)))).collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// Normalises free text: letter case and white space are ignored.
fn normalized_text(text: &str) -> ValueMeaning {
    ValueMeaning::Word(text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" "))
}

fn number(text: &str) -> ValueMeaning {
    Decimal::parse(text).map_or_else(|| normalized_text(text), ValueMeaning::Number)
}

/// Spelling of a possible address.
enum AddressSpelling {
    Hex(String),
    WrongChecksum,
    NoAddress,
}

/// Classifies an address. Mixed letter case is a checksum; an address with a wrong checksum equals no other.
fn address_spelling(text: &str) -> AddressSpelling {
    let Some(parsed) = AddressText::parse(text) else { return AddressSpelling::NoAddress };
    let digits = &text[2..];
    let mixed = digits.bytes().any(|byte| byte.is_ascii_uppercase()) && digits.bytes().any(|byte| byte.is_ascii_lowercase());
    if mixed && !parsed.is_checksummed() { AddressSpelling::WrongChecksum } else { AddressSpelling::Hex(text.to_ascii_lowercase()) }
}

fn address(text: &str) -> ValueMeaning {
    match address_spelling(text) {
        AddressSpelling::Hex(hex) => ValueMeaning::Address(hex),
        AddressSpelling::WrongChecksum => ValueMeaning::Word(text.to_owned()),
        AddressSpelling::NoAddress => ValueMeaning::Word(text.to_ascii_lowercase()),
    }
}

/// Resolves a token address on the call's chain, or on any chain if the call names none.
fn token(context: &ValueContext<'_>, text: &str) -> ValueMeaning {
    match address_spelling(text) {
        AddressSpelling::Hex(hex) => match (token_at(context, &hex), context.chain) {
            (Some(token), _) => ValueMeaning::Token(token.symbol.to_lowercase()),
            (None, Some(chain)) if NATIVE_ADDRESSES.contains(&hex.as_str()) => ValueMeaning::Token(chain.native.to_lowercase()),
            (None, Some(_) | None) => ValueMeaning::Address(hex),
        },
        AddressSpelling::WrongChecksum => ValueMeaning::Word(text.to_owned()),
        AddressSpelling::NoAddress => ValueMeaning::Token(text.to_lowercase()),
    }
}

fn candidate_chains<'a>(context: &ValueContext<'a>) -> impl Iterator<Item = &'a ChainRegistry> {
    let one = context.chain;
    context.workspace.chains.iter().filter(move |chain| one.is_none_or(|one| one.id == chain.id))
}

fn token_at<'a>(context: &ValueContext<'a>, hex: &str) -> Option<&'a RegistryToken> {
    candidate_chains(context).flat_map(|chain| &chain.tokens).find(|token| token.address.text.eq_ignore_ascii_case(hex))
}

/// Returns symbol and decimals of a token. Without a chain, the decimals must be the same on all chains.
pub(crate) fn asset_of_token<'a>(context: &ValueContext<'a>, value: &Value) -> Option<AssetDecimals<'a>> {
    let ValueMeaning::Token(symbol) = token(context, &value_text(value)) else { return None };
    let native = candidate_chains(context).find(|chain| chain.native.eq_ignore_ascii_case(&symbol));
    let mut found = candidate_chains(context)
        .flat_map(|chain| &chain.tokens)
        .filter(|token| token.symbol.eq_ignore_ascii_case(&symbol))
        .map(|token| AssetDecimals { symbol: &token.symbol, decimals: token.decimals });
    let first = native.map(|chain| AssetDecimals { symbol: &chain.native, decimals: 18 }).or_else(|| found.next())?;
    found.all(|other| other.decimals == first.decimals).then_some(first)
}

/// Resolves a chain by id (decimal, hex or `eip155:8453`), name or alias.
fn chain(workspace: &Workspace, text: &str) -> ValueMeaning {
    let id = text.strip_prefix("eip155:").unwrap_or(text);
    let id = id.strip_prefix("0x").and_then(|hex| u64::from_str_radix(hex, 16).ok()).or_else(|| id.parse().ok());
    let id = id.or_else(|| workspace.chain(text).map(|chain| chain.id));
    id.map_or_else(|| normalized_text(text), ValueMeaning::Chain)
}

fn amount(context: &ValueContext<'_>, unit: AmountUnit, text: &str) -> ValueMeaning {
    if matches!(text.to_lowercase().as_str(), "max" | "all" | "unlimited") {
        return ValueMeaning::Max;
    }
    let Some(number) = Decimal::parse(text) else {
        return with_unit(context, unit, text).map_or_else(|| normalized_text(text), ValueMeaning::Amount);
    };
    match (unit, context.asset) {
        (AmountUnit::Base, _) if text == model::UNLIMITED_AMOUNT => ValueMeaning::Max,
        (AmountUnit::Base, Some(asset)) => ValueMeaning::Amount(number.shifted(-i64::from(asset.decimals))),
        (AmountUnit::Base, None) => ValueMeaning::Units(number),
        (AmountUnit::Human | AmountUnit::Usd | AmountUnit::Shares, _) => ValueMeaning::Amount(number),
    }
}

/// Parses an amount with a unit: `250 USDC`, `5 gwei`, or `$250` if the parameter is in dollars.
fn with_unit(context: &ValueContext<'_>, unit: AmountUnit, text: &str) -> Option<Decimal> {
    if let (AmountUnit::Usd, Some(dollars)) = (unit, text.strip_prefix('$')) {
        return Decimal::parse(dollars.trim_start());
    }
    let (number, word) = text.rsplit_once(char::is_whitespace)?;
    let number = Decimal::parse(number.trim_end())?;
    let asset = context.asset?;
    match word.to_lowercase().as_str() {
        "wei" if asset.decimals == 18 => Some(number.shifted(-18)),
        "gwei" if asset.decimals == 18 => Some(number.shifted(-9)),
        word => asset.symbol.eq_ignore_ascii_case(word).then_some(number),
    }
}

/// Parses a share to basis points. A bare number is scaled by its kind; a stated unit takes precedence.
fn share(text: &str, scale: i64) -> ValueMeaning {
    let lower = text.to_lowercase();
    let (number, scale) = match (lower.strip_suffix('%'), ["bps", "bp"].iter().find_map(|unit| lower.strip_suffix(unit))) {
        (Some(percent), _) => (percent.trim_end(), 2),
        (None, Some(bps)) => (bps.trim_end(), 0),
        (None, None) => (lower.as_str(), scale),
    };
    Decimal::parse(number).map_or_else(|| normalized_text(text), |number| ValueMeaning::Share(number.shifted(scale)))
}

fn deadline(text: &str) -> ValueMeaning {
    StatedDeadline::parse(text).map_or_else(|| normalized_text(text), |stated| deadline_meaning(&stated))
}

/// Returns the meaning of a deadline. A point in time and a time from now are never equal, because the argument does not contain the time.
pub(crate) fn deadline_meaning(stated: &StatedDeadline) -> ValueMeaning {
    match stated {
        StatedDeadline::At(at) => ValueMeaning::List(vec![ValueMeaning::Word("at".into()), ValueMeaning::Time(at.clone())]),
        StatedDeadline::Within(from_now) => ValueMeaning::Time(from_now.clone()),
    }
}

/// Hex ids ignore letter case; other ids are compared as written.
fn id(text: &str) -> ValueMeaning {
    if text.starts_with("0x") { ValueMeaning::Word(text.to_ascii_lowercase()) } else { ValueMeaning::Word(text.to_owned()) }
}
