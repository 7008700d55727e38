//! Conversion between whole tokens (`250.5`) and base units (`250500000`).

use crate::decimal::Decimal;
use alloy_primitives::U256;
use std::fmt;

/// 2^256 - 1, the amount of an unlimited allowance.
pub const UNLIMITED_AMOUNT: &str = "115792089237316195423570985008687907853269984665640564039457584007913129639935";

/// Parses whole tokens into base units. Ambiguous notation is refused: returns `None` for signs, separators, exponents and more places
/// than the token has decimals.
pub fn parse_units(text: &str, decimals: u8) -> Option<U256> {
    let amount = Decimal::parse_strict(text).filter(|_| !text.starts_with('-'))?.shifted(i64::from(decimals));
    if amount.is_whole() { U256::from_str_radix(&amount.to_string(), 10).ok() } else { None }
}

/// Formats base units as whole tokens, without trailing zeros. Text that is not a number is returned unchanged.
pub fn format_units(amount: impl fmt::Display, decimals: u8) -> String {
    let text = amount.to_string();
    match Decimal::parse_strict(&text).filter(Decimal::is_whole) {
        Some(amount) => amount.shifted(-i64::from(decimals)).to_string(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_tokens_become_base_units() {
        assert_eq!(parse_units("250", 6), Some(U256::from(250_000_000_u64)));
        assert_eq!(parse_units("250.5", 6), Some(U256::from(250_500_000_u64)));
        assert_eq!(parse_units("0.5", 18), Some(U256::from(500_000_000_000_000_000_u64)));
        assert_eq!(parse_units("1.500000000", 6), Some(U256::from(1_500_000_u64)));
        assert_eq!(parse_units("0.0", 0), Some(U256::ZERO));
        for text in ["1.0000001", "-1", "+1", "", ".", "1,000", "1e3", "0x1", "max"] {
            assert_eq!(parse_units(text, 6), None, "{text}");
        }
        assert_eq!(parse_units(&U256::MAX.to_string(), 0), Some(U256::MAX));
        assert_eq!(parse_units(&U256::MAX.to_string(), 1), None, "more than 256 bits");
    }

    #[test]
    fn base_units_become_whole_tokens() {
        for (amount, decimals, text) in [
            ("250000000", 6, "250"),
            ("250500000", 6, "250.5"),
            ("1", 18, "0.000000000000000001"),
            ("0", 6, "0"),
            ("7", 0, "7"),
            ("all", 6, "all"),
            ("", 6, ""),
        ] {
            assert_eq!(format_units(amount, decimals), text);
        }
        assert_eq!(format_units(U256::from(1_500_000_u64), 6), "1.5");
    }
}
