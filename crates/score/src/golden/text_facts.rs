//! Typed facts in a text: amounts with their unit, shares, addresses and chains. Only a judge can compare the remaining words.

use super::step_meaning::is_near;
use model::{Decimal, Workspace};
use regex::Regex;
use std::fmt;
use std::sync::LazyLock;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum TextFact {
    /// Number and lower-case token symbol; `$` for dollars.
    Amount(f64, String),
    /// Basis points.
    Share(f64),
    /// Lower-case hex.
    Address(String),
    Chain(u64, String),
}

impl TextFact {
    /// Compares facts with a wider tolerance than arguments, because texts round.
    pub(super) fn matches(&self, other: &Self) -> bool {
        match (self, other) {
            (TextFact::Amount(one, unit), TextFact::Amount(other, of)) => unit == of && is_near(*one, *other, ROUNDING),
            (TextFact::Share(one), TextFact::Share(other)) => is_near(*one, *other, ROUNDING),
            (TextFact::Chain(one, _), TextFact::Chain(other, _)) => one == other,
            (one, other) => one == other,
        }
    }

    /// Returns whether one fact may have replaced the other.
    pub(super) fn is_same_topic(&self, other: &Self) -> bool {
        match (self, other) {
            (TextFact::Amount(_, unit), TextFact::Amount(_, of)) => unit == of,
            (one, other) => std::mem::discriminant(one) == std::mem::discriminant(other),
        }
    }
}

impl fmt::Display for TextFact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TextFact::Amount(number, unit) if unit == "$" => write!(f, "${number}"),
            TextFact::Amount(number, unit) => write!(f, "{number} {}", unit.to_uppercase()),
            TextFact::Share(bps) => write!(f, "{bps} bps"),
            TextFact::Address(hex) => f.write_str(hex),
            TextFact::Chain(_, name) => f.write_str(name),
        }
    }
}

/// Half a percent: `0.0832` equals `0.083`.
const ROUNDING: f64 = 0.005;

static ADDRESS: LazyLock<Regex> = LazyLock::new(|| regex(r"\b0x[0-9a-fA-F]{40}\b"));
/// Number with an optional `$` before or a unit after it.
static NUMBER: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(\$\s?)?\b(\d[\d,_]*(?:\.\d+)?)(?:\s?(%|[A-Za-z][A-Za-z0-9]*(?:\.[A-Za-z]+)?))?"));
static WORD: LazyLock<Regex> = LazyLock::new(|| regex(r"[A-Za-z][A-Za-z0-9-]*"));

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).unwrap_or_else(|error| panic!("invalid built-in pattern: {error}"))
}

/// Returns the distinct facts of a text: addresses, then amounts and shares, then chains.
pub(super) fn extract_facts(workspace: &Workspace, text: &str) -> Vec<TextFact> {
    let mut found: Vec<TextFact> = vec![];
    let mut add = |fact: TextFact| {
        if !found.iter().any(|known| known.matches(&fact)) {
            found.push(fact);
        }
    };
    for address in ADDRESS.find_iter(text) {
        add(TextFact::Address(address.as_str().to_lowercase()));
    }
    let rest = ADDRESS.replace_all(text, " ");
    for number in NUMBER.captures_iter(&rest) {
        let Some(value) = Decimal::parse(number[2].trim_end_matches([',', '_'])).map(|value| value.as_f64()) else { continue };
        let unit = number.get(3).map_or("", |unit| unit.as_str());
        match unit.to_lowercase().as_str() {
            _ if number.get(1).is_some() => add(TextFact::Amount(value, "$".into())),
            "%" => add(TextFact::Share(value * 100.0)),
            "bps" | "bp" => add(TextFact::Share(value)),
            "usd" | "dollars" => add(TextFact::Amount(value, "$".into())),
            symbol if is_token(workspace, symbol) => add(TextFact::Amount(value, symbol.to_owned())),
            _ => {}
        }
    }
    for word in WORD.find_iter(&rest) {
        if let Some(chain) = workspace.chain(word.as_str()) {
            add(TextFact::Chain(chain.id, chain.name.clone()));
        }
    }
    found
}

fn is_token(workspace: &Workspace, symbol: &str) -> bool {
    workspace.chains.iter().any(|chain| {
        chain.native.eq_ignore_ascii_case(symbol) || chain.tokens.iter().any(|token| token.symbol.eq_ignore_ascii_case(symbol))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::ExampleWorkspace;

    #[test]
    fn extract_facts_finds_amounts_addresses_and_chains() {
        let workspace = ExampleWorkspace::minimal().load().expect("a workspace");
        let facts = |text: &str| extract_facts(&workspace, text).iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(facts("Sold 1,250.50 USDC for 0.4 WETH on Base at 50 bps (0.5 %)."), ["1250.5 USDC", "0.4 WETH", "50 bps", "base"]);
        assert_eq!(facts("$250 to 0x70997970C51812dc3A010C7d01b50e0d17dc79C8"), ["0x70997970c51812dc3a010c7d01b50e0d17dc79c8", "$250"]);
        assert!(facts("Two of 3 things, version v4, 12 seconds.").is_empty());
    }
}
