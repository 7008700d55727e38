//! What a value means, by its kind: two values are the same when they have the same meaning, however they are written.

use super::moment::{instant, length};
use model::{AddressText, Chain, Decimal, DurationUnit, Kind, Token, Unit, Workspace};
use serde_json::Value;

/// One form for everything that means the same. What cannot be read stays as it is written and equals only itself.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Meaning {
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
    List(Vec<Meaning>),
    /// Canonical JSON: keys sorted.
    Json(String),
}

/// Where a value stands: what an address or an amount means depends on the chain and the asset beside it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Around<'a> {
    pub(crate) workspace: &'a Workspace,
    pub(crate) chain: Option<&'a Chain>,
    pub(crate) asset: Option<Asset<'a>>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Asset<'a> {
    symbol: &'a str,
    decimals: u8,
}

/// 2^256 - 1: an allowance without end.
const UNLIMITED: &str = "115792089237316195423570985008687907853269984665640564039457584007913129639935";
/// Addresses by which the native coin is called where a token is expected.
const NATIVE: [&str; 2] = ["0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee", "0x0000000000000000000000000000000000000000"];
/// Later than any length of time in seconds, earlier than any deadline in unix seconds.
const UNIX_FROM: u64 = 1_000_000_000;

pub(crate) fn meaning(around: &Around<'_>, kind: Option<&Kind>, value: &Value) -> Meaning {
    let Some(kind) = kind else { return json(value) };
    // A structure where a plain value belongs is itself and nothing else.
    if !value.is_string() && !value.is_number() && !matches!(kind, Kind::List(_)) {
        return json(value);
    }
    let text = plain(value);
    match kind {
        Kind::Flag | Kind::Object => json(value),
        Kind::List(item) => match value {
            Value::Array(items) => Meaning::List(items.iter().map(|one| meaning(around, Some(item), one)).collect()),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => json(value),
        },
        Kind::Address(_) => address(&text),
        Kind::Data => Meaning::Word(text.to_ascii_lowercase()),
        Kind::Token(_) => token(around, &text),
        Kind::Chain(_) => chain(around.workspace, &text),
        Kind::Amount { unit, .. } => amount(around, *unit, &text),
        Kind::Bps => share(&text, 0),
        Kind::Percent => share(&text, 2),
        Kind::Ratio => share(text.strip_suffix(['x', 'X']).unwrap_or(&text), 4),
        // Hundredths of a basis point.
        Kind::FeeTier => share(&text, -2),
        Kind::Price(_) => number(text.strip_prefix('$').unwrap_or(&text)),
        Kind::Tick(_) | Kind::Count => number(&text),
        Kind::Deadline => deadline(&text),
        Kind::Duration(unit) => length(&text, *unit).map_or_else(|| folded(&text), Meaning::Time),
        Kind::Timestamp => {
            let unix = Decimal::parse(&text).map(|seconds| seconds.shifted(3));
            unix.or_else(|| instant(&text)).map_or_else(|| folded(&text), Meaning::Time)
        }
        Kind::Id(_) => id(&text),
        Kind::Enum => Meaning::Word(text.to_lowercase()),
        Kind::Text => folded(&text),
        Kind::Url => Meaning::Word(text.trim_end_matches('/').to_owned()),
    }
}

/// A JSON string or number as text, without the quotes.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), |text| text.trim().to_owned())
}

fn json(value: &Value) -> Meaning {
    let mut sorted = value.clone();
    sorted.sort_all_objects();
    Meaning::Json(sorted.to_string())
}

/// Free text: case and white space carry nothing.
fn folded(text: &str) -> Meaning {
    Meaning::Word(text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" "))
}

fn number(text: &str) -> Meaning {
    Decimal::parse(text).map_or_else(|| folded(text), Meaning::Number)
}

/// How an address is spelt.
enum Spelling {
    Hex(String),
    WrongChecksum,
    NoAddress,
}

/// Letters of one case say nothing; mixed ones are a checksum, and a wrong checksum is another address than the one meant.
fn spelling(text: &str) -> Spelling {
    let Some(parsed) = AddressText::parse(text) else { return Spelling::NoAddress };
    let digits = &text[2..];
    let mixed = digits.bytes().any(|byte| byte.is_ascii_uppercase()) && digits.bytes().any(|byte| byte.is_ascii_lowercase());
    if mixed && !parsed.is_checksummed() { Spelling::WrongChecksum } else { Spelling::Hex(text.to_ascii_lowercase()) }
}

fn address(text: &str) -> Meaning {
    match spelling(text) {
        Spelling::Hex(hex) => Meaning::Address(hex),
        Spelling::WrongChecksum => Meaning::Word(text.to_owned()),
        Spelling::NoAddress => Meaning::Word(text.to_ascii_lowercase()),
    }
}

/// An address resolves on the call's chain, or on any where the call names none.
fn token(around: &Around<'_>, text: &str) -> Meaning {
    match spelling(text) {
        Spelling::Hex(hex) => match (asset_at(around, &hex), around.chain) {
            (Some(token), _) => Meaning::Token(token.symbol.to_lowercase()),
            (None, Some(chain)) if NATIVE.contains(&hex.as_str()) => Meaning::Token(chain.native.to_lowercase()),
            (None, Some(_) | None) => Meaning::Address(hex),
        },
        Spelling::WrongChecksum => Meaning::Word(text.to_owned()),
        Spelling::NoAddress => Meaning::Token(text.to_lowercase()),
    }
}

fn chains<'a>(around: &Around<'a>) -> impl Iterator<Item = &'a Chain> {
    let one = around.chain;
    around.workspace.chains.iter().filter(move |chain| one.is_none_or(|one| one.id == chain.id))
}

fn asset_at<'a>(around: &Around<'a>, hex: &str) -> Option<&'a Token> {
    chains(around).flat_map(|chain| &chain.tokens).find(|token| token.address.text.eq_ignore_ascii_case(hex))
}

/// What an amount beside this token counts. Where no chain is named, a symbol counts only if its decimals are the same everywhere.
pub(crate) fn asset<'a>(around: &Around<'a>, value: &Value) -> Option<Asset<'a>> {
    let Meaning::Token(symbol) = token(around, &plain(value)) else { return None };
    let native = chains(around).find(|chain| chain.native.eq_ignore_ascii_case(&symbol));
    let mut found = chains(around)
        .flat_map(|chain| &chain.tokens)
        .filter(|token| token.symbol.eq_ignore_ascii_case(&symbol))
        .map(|token| Asset { symbol: &token.symbol, decimals: token.decimals });
    let first = native.map(|chain| Asset { symbol: &chain.native, decimals: 18 }).or_else(|| found.next())?;
    found.all(|other| other.decimals == first.decimals).then_some(first)
}

/// By id, also as `eip155:8453` or hex, by name or by alias.
fn chain(workspace: &Workspace, text: &str) -> Meaning {
    let id = text.strip_prefix("eip155:").unwrap_or(text);
    let id = id.strip_prefix("0x").and_then(|hex| u64::from_str_radix(hex, 16).ok()).or_else(|| id.parse().ok());
    let id = id.or_else(|| workspace.chain(text).map(|chain| chain.id));
    id.map_or_else(|| folded(text), Meaning::Chain)
}

fn amount(around: &Around<'_>, unit: Unit, text: &str) -> Meaning {
    if matches!(text.to_lowercase().as_str(), "max" | "all" | "unlimited") {
        return Meaning::Max;
    }
    let Some(number) = Decimal::parse(text) else {
        return with_unit(around, unit, text).map_or_else(|| folded(text), Meaning::Amount);
    };
    match (unit, around.asset) {
        (Unit::Base, _) if text == UNLIMITED => Meaning::Max,
        (Unit::Base, Some(asset)) => Meaning::Amount(number.shifted(-i64::from(asset.decimals))),
        (Unit::Base, None) => Meaning::Units(number),
        (Unit::Human | Unit::Usd | Unit::Shares, _) => Meaning::Amount(number),
    }
}

/// `250 USDC` says itself what it counts, whatever the parameter counts. `$250` is dollars where dollars are meant.
fn with_unit(around: &Around<'_>, unit: Unit, text: &str) -> Option<Decimal> {
    if let (Unit::Usd, Some(dollars)) = (unit, text.strip_prefix('$')) {
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
fn share(text: &str, scale: i64) -> Meaning {
    let lower = text.to_lowercase();
    let (number, scale) = match (lower.strip_suffix('%'), ["bps", "bp"].iter().find_map(|unit| lower.strip_suffix(unit))) {
        (Some(percent), _) => (percent.trim_end(), 2),
        (None, Some(bps)) => (bps.trim_end(), 0),
        (None, None) => (lower.as_str(), scale),
    };
    Decimal::parse(number).map_or_else(|| folded(text), |number| Meaning::Share(number.shifted(scale)))
}

/// Unix seconds, seconds from now, or either in words. The two never mean the same: when now is, the argument does not say.
fn deadline(text: &str) -> Meaning {
    match text.parse::<u64>() {
        Ok(unix) if unix >= UNIX_FROM => Meaning::List(vec![Meaning::Word("at".into()), Meaning::Time(Decimal::from(unix).shifted(3))]),
        Ok(_) | Err(_) => match (instant(text), length(text, DurationUnit::Seconds)) {
            (Some(at), _) => Meaning::List(vec![Meaning::Word("at".into()), Meaning::Time(at)]),
            (None, Some(from_now)) => Meaning::Time(from_now),
            (None, None) => folded(text),
        },
    }
}

/// Hex ignores case, `7` is 7; everything else is as written.
fn id(text: &str) -> Meaning {
    if text.starts_with("0x") { Meaning::Word(text.to_ascii_lowercase()) } else { Meaning::Word(text.to_owned()) }
}
