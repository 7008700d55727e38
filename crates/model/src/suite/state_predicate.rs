//! State predicates: `balance(self, WETH) increased on base`, `allowance(router, USDC) == 0`.
//! Only parsed here. A scorer evaluates them.

use crate::problem::{ProblemReport, did_you_mean};
use crate::rule::{RuleError, TextParser};
use crate::yaml::{YamlNode, text};
use std::fmt;

/// Condition on chain state at the end of a trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatePredicate {
    pub quantity: StateQuantity,
    pub change: ExpectedChange,
    /// Chain id, name or alias; the chain of the intent if absent.
    pub chain: Option<String>,
    /// Text as written by the author.
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StateQuantity {
    /// Balance of `self`, a registry name or an address.
    Balance { holder: String, asset: String },
    /// Allowance that `self` gives to a spender.
    Allowance { spender: String, asset: String },
    /// Position of `self` in a venue.
    Position { venue: String, asset: String },
    /// Debt of `self` to a venue.
    Debt { venue: String, asset: String },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExpectedChange {
    Increased,
    Decreased,
    Unchanged,
    /// Comparison with an amount of whole tokens.
    Compared(AmountComparison, String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AmountComparison {
    Equal,
    NotEqual,
    AtLeast,
    AtMost,
    Above,
    Below,
}

const QUANTITIES: &[&str] = &["balance", "allowance", "position", "debt"];
const CHANGES: &[(&str, ExpectedChange)] =
    &[("increased", ExpectedChange::Increased), ("decreased", ExpectedChange::Decreased), ("unchanged", ExpectedChange::Unchanged)];
// Longer operators come first, so that `>=` is not read as `>`.
const COMPARISONS: &[(&str, AmountComparison)] = &[
    ("==", AmountComparison::Equal),
    ("!=", AmountComparison::NotEqual),
    (">=", AmountComparison::AtLeast),
    ("<=", AmountComparison::AtMost),
    (">", AmountComparison::Above),
    ("<", AmountComparison::Below),
];
const MAX_LENGTH: usize = 200;

impl fmt::Display for StatePredicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

pub(super) fn read_state_predicate(node: &YamlNode, report: &ProblemReport) -> Option<StatePredicate> {
    let written = text(node, report)?;
    match StatePredicate::parse(&written) {
        Ok(predicate) => Some(predicate),
        Err(error) => {
            report.add(node.line, format!("the state predicate \"{written}\" cannot be read"), error.to_string());
            None
        }
    }
}

impl StatePredicate {
    /// Parses a state predicate.
    ///
    /// # Errors
    ///
    /// Fails with the column of the first syntax error.
    pub fn parse(text: &str) -> Result<Self, RuleError> {
        if text.len() > MAX_LENGTH {
            return Err(RuleError { column: MAX_LENGTH, what: format!("a state predicate has at most {MAX_LENGTH} characters") });
        }
        let mut reader = TextParser::new(text);
        let quantity = reader.state_quantity()?;
        let change = reader.change()?;
        let chain = reader.chain()?;
        if reader.at < text.len() {
            return reader.fail("only \"on\" and a chain may follow the predicate");
        }
        Ok(Self { quantity, change, chain, text: text.trim().to_owned() })
    }
}

impl TextParser<'_> {
    fn state_quantity(&mut self) -> Result<StateQuantity, RuleError> {
        self.skip_space();
        let start = self.at;
        let head = self.word()?;
        if !QUANTITIES.contains(&head) {
            self.at = start;
            let guess = did_you_mean(head, QUANTITIES.iter().copied());
            let known = if guess.is_empty() { format!("one of: {}", QUANTITIES.join(", ")) } else { guess };
            return self.fail(format!("\"{head}\" is not a state quantity; {known}"));
        }
        self.expect('(')?;
        let party = self.word()?.to_owned();
        self.expect(',')?;
        let asset = self.word()?.to_owned();
        self.expect(')')?;
        Ok(match head {
            "balance" => StateQuantity::Balance { holder: party, asset },
            "allowance" => StateQuantity::Allowance { spender: party, asset },
            "position" => StateQuantity::Position { venue: party, asset },
            _ => StateQuantity::Debt { venue: party, asset },
        })
    }

    fn change(&mut self) -> Result<ExpectedChange, RuleError> {
        self.skip_space();
        for (sign, comparison) in COMPARISONS {
            if self.rest().starts_with(sign) {
                self.at += sign.len();
                return Ok(ExpectedChange::Compared(*comparison, self.amount()?));
            }
        }
        let start = self.at;
        let word = self.word().unwrap_or_default();
        match CHANGES.iter().find(|(known, _)| *known == word) {
            Some((_, change)) => Ok(change.clone()),
            None => {
                self.at = start;
                let guess = did_you_mean(word, CHANGES.iter().map(|(known, _)| *known));
                let hint = if guess.is_empty() { guess } else { format!("; {guess}") };
                self.fail(format!("expected increased, decreased, unchanged or one of == != >= <= > <{hint}"))
            }
        }
    }

    /// Parses a decimal number or `max`, quoted or bare.
    fn amount(&mut self) -> Result<String, RuleError> {
        self.skip_space();
        let start = self.at;
        let quoted = self.rest().starts_with('"');
        if quoted {
            self.at += 1;
        }
        let rest = self.rest();
        let length = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '.')).unwrap_or(rest.len());
        let amount = &rest[..length];
        let (whole, fraction) = amount.split_once('.').unwrap_or((amount, "0"));
        let digits = |part: &str| !part.is_empty() && part.len() <= 60 && part.chars().all(|c| c.is_ascii_digit());
        if amount != "max" && !(digits(whole) && digits(fraction)) {
            self.at = start;
            return self.fail("expected an amount of whole tokens, such as \"100\" or 0.5, or max");
        }
        self.at += length;
        if quoted {
            if !self.rest().starts_with('"') {
                return self.fail("a quoted amount lacks its closing quote");
            }
            self.at += 1;
        }
        Ok(amount.to_owned())
    }

    fn chain(&mut self) -> Result<Option<String>, RuleError> {
        self.skip_space();
        if self.at == self.text.len() {
            return Ok(None);
        }
        let start = self.at;
        if self.word() != Ok("on") {
            self.at = start;
            return self.fail("only \"on\" and a chain may follow the predicate");
        }
        let chain = self.word()?.to_owned();
        self.skip_space();
        Ok(Some(chain))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documented_state_predicates_parse() {
        let predicate = StatePredicate::parse("balance(self, WETH) increased").unwrap();
        assert_eq!((predicate.change, predicate.chain), (ExpectedChange::Increased, None));
        let predicate = StatePredicate::parse(" balance( self , USDC ) >= \"100.5\" on base ").unwrap();
        assert_eq!(predicate.change, ExpectedChange::Compared(AmountComparison::AtLeast, "100.5".into()));
        assert_eq!(predicate.chain.as_deref(), Some("base"));
        let predicate = StatePredicate::parse("allowance(router, USDC) == 0").unwrap();
        assert_eq!(predicate.quantity, StateQuantity::Allowance { spender: "router".into(), asset: "USDC".into() });
        assert_eq!(predicate.change, ExpectedChange::Compared(AmountComparison::Equal, "0".into()));
        assert!(StatePredicate::parse("position(aave, WETH) unchanged on 8453").is_ok());
        assert!(StatePredicate::parse("debt(aave, USDC) < max").is_ok());
        assert!(StatePredicate::parse("balance(0x70997970C51812dc3A010C7d01b50e0d17dc79C8, USDC) increased").is_ok());
    }

    #[test]
    fn state_predicate_error_has_a_column() {
        let column = |text: &str| StatePredicate::parse(text).unwrap_err().column;
        assert_eq!(column("balanc(self, WETH) increased"), 1);
        assert_eq!(column("balance(self WETH) increased"), 14);
        assert_eq!(column("balance(self, WETH) grew"), 21);
        assert_eq!(column("balance(self, WETH) >= lots"), 24);
        assert_eq!(column("balance(self, WETH) == 1 base"), 26);
        assert!(StatePredicate::parse("balanc(self, WETH) increased").unwrap_err().what.contains("did you mean \"balance\"?"));
        for malformed in ["", "(", "balance(", "balance(ä, WETH) increased", "balance(self, WETH) == \"1", &"b".repeat(600)] {
            assert!(StatePredicate::parse(malformed).is_err(), "{malformed}");
        }
    }
}
