//! Decimal numbers of any length, kept as written: no floating point between two amounts.

/// `digits` × 10^`exponent`, without superfluous zeros, so that equal numbers are equal values.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Decimal {
    negative: bool,
    digits: String,
    exponent: i64,
}

impl Decimal {
    /// `250`, `-0.5`, `1,000.50`, `1_000`. Scientific forms are refused: nobody writes an amount that way on purpose.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (negative, unsigned) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
        let whole = without_separators(whole)?;
        if (whole.is_empty() && fraction.is_empty()) || !is_digits(fraction) {
            return None;
        }
        let exponent = -i64::try_from(fraction.len()).ok()?;
        Some(Self::normal(negative, &(whole + fraction), exponent))
    }

    /// As near as a float comes: for tolerances, never for equality.
    pub(crate) fn as_f64(&self) -> f64 {
        let digits = if self.digits.is_empty() { "0" } else { &self.digits };
        let sign = if self.negative { "-" } else { "" };
        format!("{sign}{digits}e{}", self.exponent).parse().unwrap_or(f64::NAN)
    }

    pub(super) fn whole(number: u64) -> Self {
        Self::normal(false, &number.to_string(), 0)
    }

    /// Times 10^`by`.
    pub(super) fn shifted(mut self, by: i64) -> Self {
        if !self.digits.is_empty() {
            self.exponent = self.exponent.saturating_add(by);
        }
        self
    }

    pub(super) fn times(&self, factor: u64) -> Option<Self> {
        let digits: u128 = if self.digits.is_empty() { 0 } else { self.digits.parse().ok()? };
        Some(Self::normal(self.negative, &digits.checked_mul(u128::from(factor))?.to_string(), self.exponent))
    }

    fn normal(negative: bool, digits: &str, exponent: i64) -> Self {
        let digits = digits.trim_start_matches('0');
        let kept = digits.trim_end_matches('0');
        if kept.is_empty() {
            return Self { negative: false, digits: String::new(), exponent: 0 };
        }
        let dropped = i64::try_from(digits.len() - kept.len()).unwrap_or(i64::MAX);
        Self { negative, digits: kept.to_owned(), exponent: exponent.saturating_add(dropped) }
    }
}

fn is_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Commas separate thousands and nothing else; underscores stand between digits.
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
    fn one_number_has_one_form() {
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
        assert_eq!(Decimal::parse("2.5").and_then(|number| number.times(60)), Decimal::parse("150"));
    }

    #[test]
    fn what_is_no_plain_number_is_refused() {
        for text in ["", ".", "1e18", "1E3", "1,5", "1,00,000", "1_,000", "_1", "1__0", "0x10", "NaN", "--1", "1.2.3", "1 000"] {
            assert_eq!(Decimal::parse(text), None, "{text}");
        }
    }
}
