//! What a value means, by its kind: two values are the same when they have the same meaning, however they are written.

use super::time_text::{parse_duration_ms, parse_instant_ms};
use model::{AddressText, AmountUnit, ChainRegistry, Decimal, DurationUnit, ParamKind, RegistryToken, Workspace};
use serde_json::Value;

/// One form for everything that means the same. What cannot be read stays as it is written and equals only itself.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum ValueMeaning {
    /// Lower-case hex.
    Address(String),
    /// Lower-case symbol.
    Token(String),
    Chain(u64),
    /// Whole tokens.
    Amount(Decimal),
    /// Smallest units of something whose decimals nobody knows.
    Units(Decimal),
    /// All there is, or no limit.
    Max,
    /// Basis points.
    Share(Decimal),
    Number(Decimal),
    /// Milliseconds.
    Time(Decimal),
    Word(String),
    List(Vec<ValueMeaning>),
    /// Canonical JSON: keys sorted.
    Json(String),
}

/// Where a value stands: what an address or an amount means depends on the chain and the asset beside it.
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

/// 2^256 - 1: an allowance without end.
const UNLIMITED: &str = "115792089237316195423570985008687907853269984665640564039457584007913129639935";
/// Addresses by which the native coin is called where a token is expected.
const NATIVE_ADDRESSES: [&str; 2] = ["0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee", "0x0000000000000000000000000000000000000000"];
/// Later than any length of time in seconds, earlier than any deadline in unix seconds.
const MIN_UNIX_SECONDS: u64 = 1_000_000_000;

pub(crate) fn meaning(around: &ValueContext<'_>, kind: Option<&ParamKind>, value: &Value) -> ValueMeaning {
    let Some(kind) = kind else { return json(value) };
    // A structure where a plain value belongs is itself and nothing else.
    if !value.is_string() && !value.is_number() && !matches!(kind, ParamKind::List(_)) {
        return json(value);
    }
    let text = value_text(value);
    match kind {
        ParamKind::Flag | ParamKind::Object => json(value),
        ParamKind::List(item) => match value {
            Value::Array(items) => ValueMeaning::List(items.iter().map(|one| meaning(around, Some(item), one)).collect()),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => json(value),
        },
        ParamKind::Address(_) => address(&text),
        ParamKind::Data => ValueMeaning::Word(text.to_ascii_lowercase()),
        ParamKind::Token(_) => token(around, &text),
        ParamKind::Chain(_) => chain(around.workspace, &text),
        ParamKind::Amount { unit, .. } => amount(around, *unit, &text),
        ParamKind::Bps => share(&text, 0),
        ParamKind::Percent => share(&text, 2),
        ParamKind::Ratio => share(text.strip_suffix(['x', 'X']).unwrap_or(&text), 4),
        // Hundredths of a basis point.
        ParamKind::FeeTier => share(&text, -2),
        ParamKind::Price(_) => number(text.strip_prefix('$').unwrap_or(&text)),
        ParamKind::Tick(_) | ParamKind::Count => number(&text),
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

/// A JSON string or number as text, without the quotes.
fn value_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), |text| text.trim().to_owned())
}

fn json(value: &Value) -> ValueMeaning {
    let mut sorted = value.clone();
    sorted.sort_all_objects();
    ValueMeaning::Json(sorted.to_string())
}

/// Free text: case and white space carry nothing.
fn normalized_text(text: &str) -> ValueMeaning {
    ValueMeaning::Word(text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" "))
}

fn number(text: &str) -> ValueMeaning {
    Decimal::parse(text).map_or_else(|| normalized_text(text), ValueMeaning::Number)
}

/// How an address is spelt.
enum AddressSpelling {
    Hex(String),
    WrongChecksum,
    NoAddress,
}

/// Letters of one case say nothing; mixed ones are a checksum, and a wrong checksum is another address than the one meant.
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

/// An address resolves on the call's chain, or on any where the call names none.
fn token(around: &ValueContext<'_>, text: &str) -> ValueMeaning {
    match address_spelling(text) {
        AddressSpelling::Hex(hex) => match (token_at(around, &hex), around.chain) {
            (Some(token), _) => ValueMeaning::Token(token.symbol.to_lowercase()),
            (None, Some(chain)) if NATIVE_ADDRESSES.contains(&hex.as_str()) => ValueMeaning::Token(chain.native.to_lowercase()),
            (None, Some(_) | None) => ValueMeaning::Address(hex),
        },
        AddressSpelling::WrongChecksum => ValueMeaning::Word(text.to_owned()),
        AddressSpelling::NoAddress => ValueMeaning::Token(text.to_lowercase()),
    }
}

fn candidate_chains<'a>(around: &ValueContext<'a>) -> impl Iterator<Item = &'a ChainRegistry> {
    let one = around.chain;
    around.workspace.chains.iter().filter(move |chain| one.is_none_or(|one| one.id == chain.id))
}

fn token_at<'a>(around: &ValueContext<'a>, hex: &str) -> Option<&'a RegistryToken> {
    candidate_chains(around).flat_map(|chain| &chain.tokens).find(|token| token.address.text.eq_ignore_ascii_case(hex))
}

/// What an amount beside this token counts. Where no chain is named, a symbol counts only if its decimals are the same everywhere.
pub(crate) fn asset_of_token<'a>(around: &ValueContext<'a>, value: &Value) -> Option<AssetDecimals<'a>> {
    let ValueMeaning::Token(symbol) = token(around, &value_text(value)) else { return None };
    let native = candidate_chains(around).find(|chain| chain.native.eq_ignore_ascii_case(&symbol));
    let mut found = candidate_chains(around)
        .flat_map(|chain| &chain.tokens)
        .filter(|token| token.symbol.eq_ignore_ascii_case(&symbol))
        .map(|token| AssetDecimals { symbol: &token.symbol, decimals: token.decimals });
    let first = native.map(|chain| AssetDecimals { symbol: &chain.native, decimals: 18 }).or_else(|| found.next())?;
    found.all(|other| other.decimals == first.decimals).then_some(first)
}

/// By id, also as `eip155:8453` or hex, by name or by alias.
fn chain(workspace: &Workspace, text: &str) -> ValueMeaning {
    let id = text.strip_prefix("eip155:").unwrap_or(text);
    let id = id.strip_prefix("0x").and_then(|hex| u64::from_str_radix(hex, 16).ok()).or_else(|| id.parse().ok());
    let id = id.or_else(|| workspace.chain(text).map(|chain| chain.id));
    id.map_or_else(|| normalized_text(text), ValueMeaning::Chain)
}

fn amount(around: &ValueContext<'_>, unit: AmountUnit, text: &str) -> ValueMeaning {
    if matches!(text.to_lowercase().as_str(), "max" | "all" | "unlimited") {
        return ValueMeaning::Max;
    }
    let Some(number) = Decimal::parse(text) else {
        return with_unit(around, unit, text).map_or_else(|| normalized_text(text), ValueMeaning::Amount);
    };
    match (unit, around.asset) {
        (AmountUnit::Base, _) if text == UNLIMITED => ValueMeaning::Max,
        (AmountUnit::Base, Some(asset)) => ValueMeaning::Amount(number.shifted(-i64::from(asset.decimals))),
        (AmountUnit::Base, None) => ValueMeaning::Units(number),
        (AmountUnit::Human | AmountUnit::Usd | AmountUnit::Shares, _) => ValueMeaning::Amount(number),
    }
}

/// `250 USDC` says itself what it counts, whatever the parameter counts. `$250` is dollars where dollars are meant.
fn with_unit(around: &ValueContext<'_>, unit: AmountUnit, text: &str) -> Option<Decimal> {
    if let (AmountUnit::Usd, Some(dollars)) = (unit, text.strip_prefix('$')) {
        return Decimal::parse(dollars.trim_start());
    }
    let (number, word) = text.rsplit_once(char::is_whitespace)?;
    let number = Decimal::parse(number.trim_end())?;
    let asset = around.asset?;
    match word.to_lowercase().as_str() {
        "wei" if asset.decimals == 18 => Some(number.shifted(-18)),
        "gwei" if asset.decimals == 18 => Some(number.shifted(-9)),
        word => asset.symbol.eq_ignore_ascii_case(word).then_some(number),
    }
}

/// In basis points. A bare number is scaled by its kind; one that says its unit is taken at its word.
fn share(text: &str, scale: i64) -> ValueMeaning {
    let lower = text.to_lowercase();
    let (number, scale) = match (lower.strip_suffix('%'), ["bps", "bp"].iter().find_map(|unit| lower.strip_suffix(unit))) {
        (Some(percent), _) => (percent.trim_end(), 2),
        (None, Some(bps)) => (bps.trim_end(), 0),
        (None, None) => (lower.as_str(), scale),
    };
    Decimal::parse(number).map_or_else(|| normalized_text(text), |number| ValueMeaning::Share(number.shifted(scale)))
}

/// Unix seconds, seconds from now, or either in words. The two never mean the same: when now is, the argument does not say.
fn deadline(text: &str) -> ValueMeaning {
    match text.parse::<u64>() {
        Ok(unix) if unix >= MIN_UNIX_SECONDS => {
            ValueMeaning::List(vec![ValueMeaning::Word("at".into()), ValueMeaning::Time(Decimal::from(unix).shifted(3))])
        }
        Ok(_) | Err(_) => match (parse_instant_ms(text), parse_duration_ms(text, DurationUnit::Seconds)) {
            (Some(at), _) => ValueMeaning::List(vec![ValueMeaning::Word("at".into()), ValueMeaning::Time(at)]),
            (None, Some(from_now)) => ValueMeaning::Time(from_now),
            (None, None) => normalized_text(text),
        },
    }
}

/// Hex ignores case, `7` is 7; everything else is as written.
fn id(text: &str) -> ValueMeaning {
    if text.starts_with("0x") { ValueMeaning::Word(text.to_ascii_lowercase()) } else { ValueMeaning::Word(text.to_owned()) }
}
