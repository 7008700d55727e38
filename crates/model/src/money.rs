//! Exact amounts of US dollars. A token may cost less than a millionth of a dollar, so the unit is the nano-dollar.

use crate::decimal::Decimal;
use crate::units::parse_units;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::iter::Sum;
use std::str::FromStr;

/// US dollars in whole nano-dollars. Arithmetic saturates at [`Money::MAX`], which fits a signed 64-bit integer of SQLite.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "u64", into = "u64")]
pub struct Money(u64);

/// Nano-dollars in a dollar.
const NANOS_PER_DOLLAR: u64 = 1_000_000_000;
const DECIMAL_PLACES: u8 = 9;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is not a dollar amount: write digits with at most nine after the point")]
pub struct ParseMoneyError(pub String);

impl Money {
    pub const ZERO: Money = Money(0);
    pub const MAX: Money = Money(i64::MAX as u64);

    pub const fn from_nanos(nanos: u64) -> Self {
        if nanos > Self::MAX.0 { Self::MAX } else { Self(nanos) }
    }

    pub const fn from_dollars(dollars: u64) -> Self {
        Self::from_nanos(dollars.saturating_mul(NANOS_PER_DOLLAR))
    }

    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Returns dollars as a float, for reports only.
    pub fn as_usd(self) -> f64 {
        self.0 as f64 / NANOS_PER_DOLLAR as f64
    }

    #[must_use]
    pub const fn saturating_add(self, other: Self) -> Self {
        Self::from_nanos(self.0.saturating_add(other.0))
    }

    /// Subtracts; the result is at least zero.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// Returns the cost of `tokens` at this price per million tokens, rounded up.
    #[must_use]
    pub fn cost_of_tokens(self, tokens: u64) -> Self {
        let exact = u128::from(self.0) * u128::from(tokens);
        Self::from_nanos(u64::try_from(exact.div_ceil(1_000_000)).unwrap_or(u64::MAX))
    }
}

impl From<u64> for Money {
    fn from(nanos: u64) -> Self {
        Self::from_nanos(nanos)
    }
}

impl From<Money> for u64 {
    fn from(money: Money) -> Self {
        money.0
    }
}

impl Sum for Money {
    fn sum<I: Iterator<Item = Money>>(all: I) -> Self {
        all.fold(Money::ZERO, Money::saturating_add)
    }
}

/// Formats dollars with two to nine digits after the point: `0.00`, `12.50`, `0.000000004`.
impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&Decimal::from(self.0).shifted(-i64::from(DECIMAL_PLACES)).with_places(2))
    }
}

impl FromStr for Money {
    type Err = ParseMoneyError;

    fn from_str(text: &str) -> Result<Self, ParseMoneyError> {
        let wrong = || ParseMoneyError(text.chars().take(40).collect());
        let fraction = text.split_once('.').map_or("0", |(_, fraction)| fraction);
        if text.starts_with('.') || fraction.is_empty() || fraction.len() > usize::from(DECIMAL_PLACES) {
            return Err(wrong());
        }
        let nanos = parse_units(text, DECIMAL_PLACES).and_then(|nanos| u64::try_from(nanos).ok());
        nanos.filter(|nanos| *nanos <= Self::MAX.0).map(Self).ok_or_else(wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dollar_amounts_round_trip() {
        for (text, nanos, printed) in
            [("0", 0, "0.00"), ("12.5", 12_500_000_000, "12.50"), ("0.000000004", 4, "0.000000004"), ("3.10", 3_100_000_000, "3.10")]
        {
            let money: Money = text.parse().unwrap();
            assert_eq!((money.as_nanos(), money.to_string().as_str()), (nanos, printed));
            assert_eq!(money.to_string().parse::<Money>(), Ok(money));
        }
    }

    #[test]
    fn malformed_dollar_amounts_are_refused() {
        for text in ["", ".", "1.", ".5", "-1", "+1", "1e3", "1,5", "0.0000000001", "99999999999999999999", "9223372037", "1 "] {
            assert!(text.parse::<Money>().is_err(), "{text:?} was accepted");
        }
    }

    #[test]
    fn token_cost_rounds_up_and_sums_saturate() {
        assert_eq!(Money::from_dollars(2).cost_of_tokens(1_000_000), Money::from_dollars(2));
        assert_eq!(Money::from_nanos(12_500_000).cost_of_tokens(1), Money::from_nanos(13));
        assert_eq!(Money::MAX.cost_of_tokens(u64::MAX), Money::MAX);
        assert_eq!([Money::MAX, Money::from_nanos(1)].into_iter().sum::<Money>(), Money::MAX);
        assert_eq!(Money::from_nanos(1).saturating_sub(Money::from_nanos(2)), Money::ZERO);
    }
}
