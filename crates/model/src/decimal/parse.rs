//! Parsers for three notations of decimals: plain digits, thousands separators, and numbers as typed by users.

use super::Decimal;
use serde_json::Number;

/// Largest integer up to which a float represents every integer exactly.
const MAX_EXACT_FLOAT: f64 = 9_007_199_254_740_992.0;

impl Decimal {
    /// Parses `250`, `-0.5`, `.5`: plain digits, one point, an optional minus sign.
    pub fn parse_strict(text: &str) -> Option<Self> {
        let (negative, unsigned) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
        if (whole.is_empty() && fraction.is_empty()) || !is_digits(whole) || !is_digits(fraction) {
            return None;
        }
        let exponent = -i64::try_from(fraction.len()).ok()?;
        Some(Self::normalized(negative, &format!("{whole}{fraction}"), exponent))
    }

    /// Parses `250`, `+7`, `1,000.50`, `1_000`. Scientific notation is refused, because it is rarely intended for amounts.
    pub fn parse(text: &str) -> Option<Self> {
        let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
        let (whole, fraction) = unsigned.split_once('.').map_or((unsigned, None), |(whole, fraction)| (whole, Some(fraction)));
        let whole = without_separators(whole)?;
        let sign = if text.starts_with('-') { "-" } else { "" };
        Self::parse_strict(&match fraction {
            Some(fraction) => format!("{sign}{whole}.{fraction}"),
            None => format!("{sign}{whole}"),
        })
    }

    /// Returns a JSON number; `None` for a float beyond 2^53, since it may stand for several integers.
    pub fn from_json(number: &Number) -> Option<Self> {
        if let Some(float) = number.as_f64().filter(|_| number.is_f64()) {
            // `Display` of a float writes no exponent.
            return if float.abs() < MAX_EXACT_FLOAT { Self::parse_strict(&float.to_string()) } else { None };
        }
        Self::parse_strict(&number.to_string())
    }

    /// Parses numbers as typed by users: `1,250.50`, `1'000`, `0,5`, `1.250,75`.
    pub fn parse_typed(text: &str) -> Option<Self> {
        let unsigned = text.strip_prefix('-').unwrap_or(text);
        let sign = if text.starts_with('-') { "-" } else { "" };
        let bare: String = unsigned.chars().filter(|c| !matches!(c, '\'' | '_')).collect();
        if !bare.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            return None;
        }
        let pointed = match (bare.rfind(','), bare.rfind('.')) {
            (Some(comma), Some(point)) if comma > point => bare.replace('.', "").replace(',', "."),
            (Some(_), Some(_)) => bare.replace(',', ""),
            (Some(_), None) if is_in_thousands(&bare) => bare.replace(',', ""),
            (Some(_), None) => bare.replacen(',', ".", 1),
            (None, _) => bare,
        };
        Self::parse_strict(&format!("{sign}{pointed}"))
    }
}

fn is_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns whether commas separate groups of three digits: `1,000`, but not `0,500`.
fn is_in_thousands(text: &str) -> bool {
    let mut groups = text.split(',');
    let first = groups.next().unwrap_or_default();
    (1..=3).contains(&first.len()) && first != "0" && groups.all(|group| group.len() == 3)
}

/// Removes thousands separators: commas between groups of three digits, or underscores between any two digits.
fn without_separators(whole: &str) -> Option<String> {
    let fits = match (whole.contains(','), whole.contains('_')) {
        (false, false) => is_digits(whole),
        (true, false) => whole
            .split(',')
            .enumerate()
            .all(|(n, group)| is_digits(group) && if n == 0 { (1..=3).contains(&group.len()) } else { group.len() == 3 }),
        (false, true) => whole.split('_').all(|group| !group.is_empty() && is_digits(group)),
        (true, true) => false,
    };
    fits.then(|| whole.replace([',', '_'], ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_numbers_are_equal_values() {
        let same = |a, b| assert_eq!(Decimal::parse(a), Decimal::parse(b), "{a} {b}");
        same("250", "250.00");
        same("1,000.50", "1000.5");
        same("1_000_000", "1000000");
        same("-0", "0.0");
        same("+7", "07");
        same(".5", "0.50");
        assert_ne!(Decimal::parse("250"), Decimal::parse("250.000000000000000001"));
        assert_ne!(Decimal::parse("1"), Decimal::parse("-1"));
        assert_eq!(Decimal::parse("25").map(|number| number.shifted(-1)), Decimal::parse("2.5"));
    }

    #[test]
    fn malformed_numbers_are_refused() {
        for text in
            ["", ".", "-", "+", "1e18", "1E3", "1,5", "1,00,000", "1_,000", "_1", "1__0", "0x10", "NaN", "--1", "+-1", "1.2.3", "1 000"]
        {
            assert_eq!(Decimal::parse(text), None, "{text}");
        }
        for text in ["", ".", "-", "+1", "1,000", "1_000", "1e3", "0x1", "--1", "1.2.3", "٣"] {
            assert_eq!(Decimal::parse_strict(text), None, "{text}");
        }
    }

    #[test]
    fn json_numbers_are_exact_or_refused() {
        let read = |text: &str| Decimal::from_json(&serde_json::from_str(text).unwrap()).map(|number| number.to_string());
        for (text, number) in [
            ("5", "5"),
            ("5.0", "5"),
            ("1e3", "1000"),
            ("-0.0", "0"),
            ("1e-7", "0.0000001"),
            ("18446744073709551615", "18446744073709551615"),
        ] {
            assert_eq!(read(text).as_deref(), Some(number), "{text}");
        }
        for text in ["9007199254740993.0", "1e18", "115792089237316195423570985008687907853269984665640564039457584007913129639935"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn typed_separators_are_understood() {
        for (text, number) in [
            ("250", "250"),
            ("1,250.50", "1250.5"),
            ("1,000", "1000"),
            ("1,000,000", "1000000"),
            ("1'000", "1000"),
            ("0,5", "0.5"),
            ("1.250,75", "1250.75"),
            (".5", "0.5"),
            ("007", "7"),
            ("-12.50", "-12.5"),
        ] {
            assert_eq!(Decimal::parse_typed(text).map(|number| number.to_string()).as_deref(), Some(number), "{text}");
        }
        for text in ["", "v3", "1.2.3", "0x12", "12a", ",5", ".", "--1"] {
            assert_eq!(Decimal::parse_typed(text), None, "{text}");
        }
    }
}
