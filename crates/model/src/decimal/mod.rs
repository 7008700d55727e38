//! Exact decimal numbers of any length, stored as digits.

mod parse;

use std::cmp::Ordering;
use std::fmt;

/// `digits` × 10^`exponent`, normalized without leading or trailing zeros, so that equal numbers compare equal.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Decimal {
    negative: bool,
    digits: String,
    exponent: i64,
}

impl Decimal {
    /// Returns the nearest float. Use it for tolerances and bounds, not for equality.
    pub fn as_f64(&self) -> f64 {
        let digits = if self.digits.is_empty() { "0" } else { &self.digits };
        let sign = if self.negative { "-" } else { "" };
        format!("{sign}{digits}e{}", self.exponent).parse().unwrap_or(f64::NAN)
    }

    /// Returns the number as an integer; `None` for a fraction or one that does not fit.
    pub fn as_i64(&self) -> Option<i64> {
        if self.is_whole() { self.to_string().parse().ok() } else { None }
    }

    /// Returns the number as an unsigned integer; `None` for a negative number, a fraction or one that does not fit.
    pub fn as_u64(&self) -> Option<u64> {
        if self.is_whole() { self.to_string().parse().ok() } else { None }
    }

    /// Returns whether the number has no fraction.
    pub fn is_whole(&self) -> bool {
        self.exponent >= 0
    }

    /// Multiplies by 10^`places`.
    #[must_use]
    pub fn shifted(mut self, places: i64) -> Self {
        if !self.digits.is_empty() {
            self.exponent = self.exponent.saturating_add(places);
        }
        self
    }

    /// Returns the product; `None` if the digits exceed 128 bits.
    pub fn checked_mul(&self, factor: u64) -> Option<Self> {
        let digits: u128 = if self.digits.is_empty() { 0 } else { self.digits.parse().ok()? };
        Some(Self::normalized(self.negative, &digits.checked_mul(u128::from(factor))?.to_string(), self.exponent))
    }

    /// Formats with at least this many digits after the point.
    pub fn with_places(&self, least: usize) -> String {
        let text = self.to_string();
        let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
        if least == 0 { text } else { format!("{whole}.{fraction:0<least$}") }
    }

    fn normalized(negative: bool, digits: &str, exponent: i64) -> Self {
        let digits = digits.trim_start_matches('0');
        let kept = digits.trim_end_matches('0');
        if kept.is_empty() {
            return Self::default();
        }
        let dropped = i64::try_from(digits.len() - kept.len()).unwrap_or(i64::MAX);
        Self { negative, digits: kept.to_owned(), exponent: exponent.saturating_add(dropped) }
    }

    /// Compares the absolute values of two numbers.
    fn cmp_magnitude(&self, other: &Self) -> Ordering {
        let magnitude = |number: &Self| {
            let length = i64::try_from(number.digits.len()).unwrap_or(i64::MAX);
            (!number.digits.is_empty()).then(|| length.saturating_add(number.exponent))
        };
        magnitude(self).cmp(&magnitude(other)).then_with(|| self.digits.cmp(&other.digits))
    }
}

impl From<u64> for Decimal {
    fn from(number: u64) -> Self {
        Self::normalized(false, &number.to_string(), 0)
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.negative, other.negative) {
            (false, false) => self.cmp_magnitude(other),
            (true, true) => other.cmp_magnitude(self),
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
        }
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Writes plain digits, without separators, exponent or trailing zeros.
impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.negative { "-" } else { "" };
        let places = usize::try_from(self.exponent.unsigned_abs()).map_err(|_| fmt::Error)?;
        if self.exponent >= 0 {
            let digits = if self.digits.is_empty() { "0" } else { &self.digits };
            return write!(f, "{sign}{digits}{}", "0".repeat(places));
        }
        let padded = format!("{:0>width$}", self.digits, width = places + 1);
        let (whole, fraction) = padded.split_at(padded.len() - places);
        write!(f, "{sign}{whole}.{fraction}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Decimal {
        Decimal::parse(text).unwrap()
    }

    #[test]
    fn shifting_is_exact() {
        for (number, places, shifted) in
            [("0.5", 2, "50"), ("250", 6, "250000000"), ("1", -4, "0.0001"), ("12.5", 0, "12.5"), ("0.05", 4, "500"), ("3", -1, "0.3")]
        {
            assert_eq!(decimal(number).shifted(places).to_string(), shifted, "{number} {places}");
        }
        assert_eq!(decimal("2.5").checked_mul(60), Some(decimal("150")));
    }

    #[test]
    fn order_is_numeric() {
        let sorted = ["-100", "-2.5", "-0.5", "0", "0.049", "0.05", "0.5", "2", "2.5", "10", "10.01", "9"];
        let mut numbers: Vec<Decimal> = sorted.iter().map(|text| decimal(text)).collect();
        numbers.sort();
        let texts: Vec<String> = numbers.iter().map(Decimal::to_string).collect();
        assert_eq!(texts, ["-100", "-2.5", "-0.5", "0", "0.049", "0.05", "0.5", "2", "2.5", "9", "10", "10.01"]);
    }

    #[test]
    fn integers_are_whole_numbers_that_fit() {
        assert_eq!(decimal("-1,000").as_i64(), Some(-1000));
        assert_eq!(decimal("8453.0").as_u64(), Some(8453));
        assert_eq!(decimal("-1").as_u64(), None);
        assert_eq!(decimal("0.5").as_i64(), None);
        assert_eq!(decimal("99999999999999999999").as_u64(), None);
    }

    #[test]
    fn decimal_keeps_all_digits_of_u256_max() {
        let largest = "115792089237316195423570985008687907853269984665640564039457584007913129639935";
        assert_eq!(decimal(largest).to_string(), largest);
        assert_ne!(decimal(largest), decimal(&largest.replace("9935", "9936")));
    }

    #[test]
    fn places_are_filled_with_zeros() {
        assert_eq!(decimal("12.5").with_places(2), "12.50");
        assert_eq!(decimal("0").with_places(2), "0.00");
        assert_eq!(decimal("0.000000004").with_places(2), "0.000000004");
        assert_eq!(decimal("7").with_places(0), "7");
    }
}
