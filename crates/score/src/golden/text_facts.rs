//! Typed facts in a text: amounts with their unit, shares, addresses and chains; without a policy also other numbers and identifiers. Only a
//! judge can compare the remaining words.

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
    /// Number of a workspace without a policy.
    Number(f64),
    /// Upper-case name with digits, such as that of an order or ticket, or a date or time.
    Identifier(String),
}

impl TextFact {
    /// Compares facts with a wider tolerance than arguments, because texts round.
    pub(super) fn matches(&self, other: &Self) -> bool {
        match (self, other) {
            (TextFact::Amount(one, unit), TextFact::Amount(other, of)) => unit == of && is_near(*one, *other, ROUNDING),
            (TextFact::Share(one), TextFact::Share(other)) => is_near(*one, *other, ROUNDING),
            (TextFact::Chain(one, _), TextFact::Chain(other, _)) => one == other,
            // Numbers of orders and invoices are near each other and not the same.
            (TextFact::Number(one), TextFact::Number(other)) => is_near(*one, *other, 1e-9),
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
            TextFact::Number(number) => write!(f, "{number}"),
            TextFact::Identifier(name) => f.write_str(name),
        }
    }
}

/// Half a percent: `0.0832` equals `0.083`.
const ROUNDING: f64 = 0.005;

static ADDRESS: LazyLock<Regex> = LazyLock::new(|| regex(r"\b0x[0-9a-fA-F]{40}\b"));
/// Number with an optional `$` before or a unit after it.
static NUMBER: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(\$\s?)?\b(\d[\d,_]*(?:\.\d+)?)(?:\s?(%|[A-Za-z][A-Za-z0-9]*(?:\.[A-Za-z]+)?))?"));
/// Names with a letter first and a digit in them, long mixed names, dates and times.
static IDENTIFIER: LazyLock<Regex> = LazyLock::new(|| regex(r"#?\b[A-Za-z0-9]+(?:[-_/:][A-Za-z0-9]+)*\b"));
static LIST_MARKER: LazyLock<Regex> = LazyLock::new(|| regex(r"(?m)^\s*\d+[.)]\s"));
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
    let mut rest = ADDRESS.replace_all(text, " ").into_owned();
    // Under a policy, what counts has a unit; a trade may name orders and sums in any other way.
    let reads_all = workspace.policy.is_none();
    if reads_all {
        rest = LIST_MARKER.replace_all(&rest, " ").into_owned();
        IDENTIFIER.find_iter(&rest).filter(|found| is_identifier(found.as_str())).for_each(|found| {
            add(TextFact::Identifier(found.as_str().trim_start_matches('#').to_uppercase()));
        });
        let blank = |found: &regex::Captures<'_>| if is_identifier(&found[0]) { " ".to_owned() } else { found[0].to_owned() };
        rest = IDENTIFIER.replace_all(&rest, blank).into_owned();
    }
    for number in NUMBER.captures_iter(&rest) {
        let Some(value) = Decimal::parse(number[2].trim_end_matches([',', '_'])).map(|value| value.as_f64()) else { continue };
        let unit = number.get(3).map_or("", |unit| unit.as_str());
        match unit.to_lowercase().as_str() {
            _ if number.get(1).is_some() => add(TextFact::Amount(value, "$".into())),
            "%" => add(TextFact::Share(value * 100.0)),
            "bps" | "bp" => add(TextFact::Share(value)),
            "usd" | "dollars" => add(TextFact::Amount(value, "$".into())),
            symbol if is_token(workspace, symbol) => add(TextFact::Amount(value, symbol.to_owned())),
            _ if reads_all => add(TextFact::Number(value)),
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

/// Reports whether a word names one thing: `T-17`, `A1001`, `2026-11-19`. A number with its unit, such as `4pm`, does not.
fn is_identifier(word: &str) -> bool {
    let (has_letter, has_digit) = (word.contains(|c: char| c.is_ascii_alphabetic()), word.contains(|c: char| c.is_ascii_digit()));
    let is_joined = word.contains(['-', '_', '/', ':']);
    let starts_with_letter = word.starts_with(|c: char| c.is_ascii_alphabetic());
    match (has_letter, has_digit) {
        (_, false) => false,
        (true, true) => starts_with_letter || word.len() >= 8,
        (false, true) => is_joined,
    }
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

    /// The facts of other trades have no unit that a registry knows.
    #[test]
    fn extract_facts_finds_numbers_and_identifiers_without_policy() {
        let mut workspace = ExampleWorkspace::minimal().load().expect("a workspace");
        workspace.policy = None;
        let facts = |text: &str| extract_facts(&workspace, text).iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(facts("Ticket T-17 is closed, 39.90 euros were paid back."), ["T-17", "39.9"]);
        assert_eq!(facts("1. Order A1001 for $20\n2. 5 % off until 2026-11-19 at 9:30"), ["A1001", "2026-11-19", "9:30", "$20", "500 bps"]);
        assert_eq!(facts("Come at 4pm for a 20-day trial."), ["4", "20"]);
        assert_eq!(facts("It is done, thank you for your patience."), [""; 0]);
        let same = |one: &str, other: &str| extract_facts(&workspace, one)[0].matches(&extract_facts(&workspace, other)[0]);
        assert!(same("t-17", "T-17") && same("39.90", "39.9") && same("1,250", "1250"));
        assert!(!same("order 10001", "order 10002"), "near numbers are other orders");
    }
}
