//! Money: whole nano-dollars, because a token may cost less than a millionth of a dollar and sums must be exact.

use crate::decimal::Decimal;
use crate::units::parse_units;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::iter::Sum;
use std::str::FromStr;

/// US dollars as a whole number of nano-dollars. Sums stop at the largest value, which is above what anyone can spend and fits every
/// signed 64-bit number, so that whoever stores it cannot fail at it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "u64", into = "u64")]
pub struct Money(u64);

/// Nano-dollars in a dollar.
const DOLLAR: u64 = 1_000_000_000;
const PLACES: u8 = 9;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is no amount of dollars: write digits with at most nine after the point")]
pub struct NoMoney(pub String);

impl Money {
    pub const ZERO: Money = Money(0);
    pub const MAX: Money = Money(i64::MAX as u64);

    pub const fn nanos(nanos: u64) -> Self {
        if nanos > Self::MAX.0 { Self::MAX } else { Self(nanos) }
    }

    pub const fn dollars(dollars: u64) -> Self {
        Self::nanos(dollars.saturating_mul(DOLLAR))
    }

    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// For reports alone; sums are made of nano-dollars.
    pub fn as_usd(self) -> f64 {
        self.0 as f64 / DOLLAR as f64
    }

    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self::nanos(self.0.saturating_add(other.0))
    }

    /// What is left, never less than nothing.
    #[must_use]
    pub const fn less(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// What this many tokens cost at this price for a million of them, rounded up.
    #[must_use]
    pub fn for_tokens(self, tokens: u64) -> Self {
        let exact = u128::from(self.0) * u128::from(tokens);
        Self::nanos(u64::try_from(exact.div_ceil(1_000_000)).unwrap_or(u64::MAX))
    }
}

impl From<u64> for Money {
    fn from(nanos: u64) -> Self {
        Self::nanos(nanos)
    }
}

impl From<Money> for u64 {
    fn from(money: Money) -> Self {
        money.0
    }
}

impl Sum for Money {
    fn sum<I: Iterator<Item = Money>>(all: I) -> Self {
        all.fold(Money::ZERO, Money::plus)
    }
}

/// Dollars with at least two and at most nine digits after the point: `0.00`, `12.50`, `0.000000004`.
impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&Decimal::from(self.0).shifted(-i64::from(PLACES)).with_places(2))
    }
}

impl FromStr for Money {
    type Err = NoMoney;

    fn from_str(text: &str) -> Result<Self, NoMoney> {
        let wrong = || NoMoney(text.chars().take(40).collect());
        let fraction = text.split_once('.').map_or("0", |(_, fraction)| fraction);
        if text.starts_with('.') || fraction.is_empty() || fraction.len() > usize::from(PLACES) {
            return Err(wrong());
        }
        let nanos = parse_units(text, PLACES).and_then(|nanos| u64::try_from(nanos).ok());
        nanos.filter(|nanos| *nanos <= Self::MAX.0).map(Self).ok_or_else(wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dollars_are_read_exactly_and_printed_back() {
        for (text, nanos, printed) in
            [("0", 0, "0.00"), ("12.5", 12_500_000_000, "12.50"), ("0.000000004", 4, "0.000000004"), ("3.10", 3_100_000_000, "3.10")]
        {
            let money: Money = text.parse().unwrap();
            assert_eq!((money.as_nanos(), money.to_string().as_str()), (nanos, printed));
            assert_eq!(money.to_string().parse::<Money>(), Ok(money));
        }
    }

    #[test]
    fn what_is_no_amount_is_refused() {
        for text in ["", ".", "1.", ".5", "-1", "+1", "1e3", "1,5", "0.0000000001", "99999999999999999999", "9223372037", "1 "] {
            assert!(text.parse::<Money>().is_err(), "{text:?} was taken for money");
        }
    }

    #[test]
    fn tokens_are_never_charged_too_little_and_sums_never_wrap() {
        assert_eq!(Money::dollars(2).for_tokens(1_000_000), Money::dollars(2));
        assert_eq!(Money::nanos(12_500_000).for_tokens(1), Money::nanos(13));
        assert_eq!(Money::MAX.for_tokens(u64::MAX), Money::MAX);
        assert_eq!([Money::MAX, Money::nanos(1)].into_iter().sum::<Money>(), Money::MAX);
        assert_eq!(Money::nanos(1).less(Money::nanos(2)), Money::ZERO);
    }
}
