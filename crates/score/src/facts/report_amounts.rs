//! Amounts of tokens that an answer states, held by their value against what the trial brought to light: ten times an amount is another one.

use super::amounts::{case_world, decimals};
use super::figure_digits::{StatedFigure, figures_of};
use super::report_sources::{KnownFigures, known_figures};
use crate::evidence::Evidence;
use crate::json_answer::parse_json_answer;
use model::transcript::{Effect, MinedTransaction};
use model::{Event, EventKind};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// Decimals of tokens, by which base units are larger than whole tokens.
const DECIMALS: [i32; 3] = [6, 8, 18];
/// Decimals of assets that no registry lists.
const DEFAULT_DECIMALS: u8 = 18;
/// Part by which an amount may be rounded.
const ROUNDING: f64 = 0.01;
/// Digits from which zeros at the end of a whole number are rounded ones: 48.12k for 48123.
const EXACT_DIGITS: usize = 4;
/// Values that enter sums, differences and shares, those read last first.
const MAX_OPERANDS: usize = 40;
/// Groups of digits that spaces separate.
const GROUP: usize = 3;

/// Amount of a token as it stands in an answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StatedAmount {
    /// As registry and world write it.
    pub(crate) symbol: String,
    figure: StatedFigure,
}

impl StatedAmount {
    /// Returns the amount of a token, if the text is one figure.
    pub(super) fn new(symbol: &str, figure: &str) -> Option<Self> {
        let [figure] = <[StatedFigure; 1]>::try_from(figures_of(figure)).ok()?;
        Some(Self { symbol: symbol.to_owned(), figure })
    }

    pub(crate) fn significant_digits(&self) -> usize {
        self.figure.significant_digits()
    }

    pub(crate) fn text(&self) -> String {
        format!("{} {}", self.figure.text, self.symbol)
    }

    pub(crate) fn figure_text(&self) -> &str {
        &self.figure.text
    }

    fn is_among(&self, ascending: &[f64]) -> bool {
        let margin = |reading: f64| (reading * ROUNDING).max(self.figure.unit_of(reading));
        self.figure.readings().into_iter().any(|reading| has_value(ascending, reading, margin(reading)))
    }

    /// Returns whether the amount is this value, but for rounding.
    pub(crate) fn is_value(&self, value: f64) -> bool {
        self.figure.readings().into_iter().any(|reading| (reading - value).abs() <= reading * ROUNDING)
    }

    /// Returns whether the amount is this value in all the digits that it states, rounded or cut off to them.
    pub(crate) fn has_digits_of(&self, value: f64) -> bool {
        let is_stated = |reading: &f64| {
            let digits = self.significant_digits();
            let is_whole = reading.fract() == 0.0 && digits < EXACT_DIGITS;
            let unit = if is_whole { 1.0 } else { 10_f64.powi(reading.log10().floor() as i32 + 1 - digits as i32) };
            // The numbers themselves are rounded.
            let error = reading * 1e-9;
            (reading - value).abs() <= reading * ROUNDING && value >= reading - 0.5 * unit - error && value <= reading + unit + error
        };
        self.figure.readings().iter().any(is_stated)
    }

    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.symbol == other.symbol && other.figure.readings().into_iter().any(|value| self.is_value(value))
    }
}

/// Values of a trial in ascending order, base units as whole tokens beside them.
#[derive(Debug)]
pub(crate) struct KnownAmounts {
    /// Said by the user or the agents, or told by others, as they stand there; and what moved.
    shown: Vec<f64>,
    /// All figures of the trial.
    values: Vec<f64>,
    /// Sums, differences, products and percentages of two known values.
    yields: Vec<f64>,
}

impl KnownAmounts {
    pub(crate) fn of(evidence: &Evidence<'_>) -> Self {
        let KnownFigures { given, read, told, .. } = known_figures(evidence);
        let plain: Vec<f64> = read.iter().rev().chain(&given).flat_map(StatedFigure::readings).filter(|value| *value > 0.0).collect();
        let moved = moved_amounts(evidence);
        let told = told.iter().chain(&given).flat_map(StatedFigure::readings);
        let shown = ascending(told.chain(moved.iter().copied()).collect());
        let values = ascending(plain.iter().flat_map(|value| in_tokens(*value)).chain(plain.iter().copied()).chain(moved).collect());
        let mut operands: Vec<f64> = vec![];
        for value in plain {
            if operands.len() < MAX_OPERANDS && !operands.contains(&value) {
                operands.push(value);
            }
        }
        let pairs = operands.iter().enumerate().flat_map(|(n, one)| operands[n..].iter().map(move |other| (one, other)));
        let yields = pairs.flat_map(|(one, other)| [one + other, (one - other).abs(), one * other, one * other / 100.0]);
        Self { shown, values, yields: ascending(yields.collect()) }
    }

    /// Returns whether the trial may have the amount: rounded, in base units, or as one operation yields it.
    pub(crate) fn may_have(&self, amount: &StatedAmount) -> bool {
        amount.is_among(&self.values) || self.is_yielded(amount)
    }

    /// Returns whether the trial shows the amount: it moved or was told, rounded, or from three digits on one operation yields it.
    pub(crate) fn show(&self, amount: &StatedAmount) -> bool {
        amount.is_among(&self.shown) || amount.figure.is_precise() && self.is_yielded(amount)
    }

    fn is_yielded(&self, amount: &StatedAmount) -> bool {
        amount.figure.readings().into_iter().any(|reading| has_value(&self.yields, reading, reading * 1e-6))
    }
}

fn ascending(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values
}

/// Returns base units as whole tokens of each number of decimals.
fn in_tokens(value: f64) -> [f64; 3] {
    DECIMALS.map(|places| value / 10_f64.powi(places))
}

fn has_value(ascending: &[f64], wanted: f64, margin: f64) -> bool {
    let at = ascending.partition_point(|value| *value < wanted - margin);
    ascending.get(at).is_some_and(|value| *value <= wanted + margin)
}

/// Returns by how much balances and positions changed, in whole tokens.
pub(super) fn moved_amounts(evidence: &Evidence<'_>) -> Vec<f64> {
    let mined = |event: &'_ Event| if let EventKind::Mined { what, .. } = &event.happened { Some(what.clone()) } else { None };
    let transactions = evidence.transcript.events.iter().filter_map(mined);
    let of_transaction = |what: Box<MinedTransaction>| -> Vec<f64> {
        let change = |effect: &Effect| match effect {
            Effect::Balance { asset, before, after, .. } | Effect::Position { asset, before, after, .. } => {
                let places = decimals(evidence, what.chain, asset).unwrap_or(DEFAULT_DECIMALS);
                let change = (before.parse::<f64>().ok()? - after.parse::<f64>().ok()?).abs();
                Some(change / 10_f64.powi(i32::from(places)))
            }
            Effect::Allowance { .. } | Effect::Code { .. } | Effect::Unexplained { .. } => None,
        };
        what.effects.iter().filter_map(change).collect()
    };
    transactions.flat_map(of_transaction).collect()
}

/// Returns the amounts of tokens in an answer: a figure before a symbol, in prose or in the fields of JSON.
pub(crate) fn stated_amounts(evidence: &Evidence<'_>, answer: &str) -> Vec<StatedAmount> {
    let symbols = token_symbols(evidence);
    let texts = parse_json_answer(answer).map_or_else(|| vec![answer.to_owned()], |value| texts_of(&value));
    texts.iter().flat_map(|text| amounts_in_text(text, &symbols)).collect()
}

fn texts_of(value: &Value) -> Vec<String> {
    match value {
        Value::Array(items) => items.iter().flat_map(texts_of).collect(),
        Value::Object(entries) => entries.iter().flat_map(|(key, value)| entry_texts(entries, key, value)).collect(),
        Value::String(text) => vec![text.clone()],
        Value::Null | Value::Bool(_) | Value::Number(_) => vec![],
    }
}

/// Returns the texts of an entry; an amount is followed by the token that stands beside it: `amount_in` and `token_in`.
fn entry_texts(entries: &Map<String, Value>, key: &str, value: &Value) -> Vec<String> {
    let side = key.strip_prefix("amount");
    let token = side.and_then(|side| ["token", "asset", "symbol"].iter().find_map(|name| entries.get(&format!("{name}{side}"))?.as_str()));
    match (token, value) {
        (Some(token), Value::String(amount)) => vec![format!("{amount} {token}")],
        (Some(token), Value::Number(amount)) => vec![format!("{amount} {token}")],
        (_, value) => texts_of(value),
    }
}

pub(super) fn token_symbols<'a>(evidence: &Evidence<'a>) -> BTreeSet<&'a str> {
    let chains = &evidence.workspace.chains;
    let listed = chains.iter().flat_map(|chain| chain.tokens.iter().map(|token| token.symbol.as_str()).chain([chain.native.as_str()]));
    let world = case_world(evidence);
    let vaults = world.into_iter().flat_map(|world| &world.vaults).map(|vault| vault.symbol.as_str());
    listed.chain(vaults).collect()
}

fn amounts_in_text(text: &str, symbols: &BTreeSet<&str>) -> Vec<StatedAmount> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let at = |n: usize| {
        let (number, rest) = split_number(words[n])?;
        let unit = if rest.is_empty() { leading_name(words.get(n + 1)?) } else { leading_name(rest) };
        let symbol = symbols.get(unit)?;
        StatedAmount::new(symbol, &with_earlier_groups(&words[..n], number))
    };
    (0..words.len()).filter_map(at).collect()
}

/// Splits a word into the number that it begins with and the rest.
pub(super) fn split_number(word: &str) -> Option<(&str, &str)> {
    let word = word.trim_start_matches(['(', '~', '≈', '"', '\'', '+', '-']);
    let end = word.find(|letter: char| !letter.is_ascii_digit() && !matches!(letter, '.' | ',' | '\'' | '_')).unwrap_or(word.len());
    (word.starts_with(|letter: char| letter.is_ascii_digit())).then(|| word.split_at(end))
}

pub(super) fn leading_name(word: &str) -> &str {
    let word = word.trim_start_matches(['(', '"', '*', '`']);
    &word[..word.bytes().take_while(u8::is_ascii_alphanumeric).count()]
}

/// Joins groups of thousands that spaces separate: "3 226,52".
fn with_earlier_groups(before: &[&str], number: &str) -> String {
    let group = number.bytes().take_while(u8::is_ascii_digit).count();
    let is_group = |word: &&&str| (1..=GROUP).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_digit());
    match before.last().filter(|word| group == GROUP && is_group(word)) {
        Some(earlier) => with_earlier_groups(&before[..before.len() - 1], &format!("{earlier}{number}")),
        None => number.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::EvidenceFixture;
    use crate::sample_run::{CLEAN_CASE, clean_swap};

    fn known(answer: &str) -> Vec<(String, bool)> {
        let fixture = EvidenceFixture::of(CLEAN_CASE, clean_swap());
        let known = KnownAmounts::of(&fixture.evidence());
        stated_amounts(&fixture.evidence(), answer).iter().map(|amount| (amount.text(), known.show(amount))).collect()
    }

    #[test]
    fn amounts_are_compared_by_value() {
        for right in [
            "Sold 250 USDC.",
            "250.00 USDC verkauft",
            "0,0779 WETH reçu",
            "750 USDC left",
            "About 0.078 WETHを受け取りました",
            "1 000 USDC before",
        ] {
            let found = known(right);
            assert!(found.len() == 1 && found[0].1, "{right}: {found:?}");
        }
        for wrong in ["Sold 2500 USDC.", "25 USDC", "got 0.779 WETH", "267.5 USDC", "2.500 USDC"] {
            let found = known(wrong);
            assert!(found.len() == 1 && !found[0].1, "{wrong}: {found:?}");
        }
        assert!(known("permit-51, 8453, 3k USDC, v3 USDC and USDC 250").is_empty());
    }
}
