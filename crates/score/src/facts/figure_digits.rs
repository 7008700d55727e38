//! Figures of a text by their digits, so that units, thousands separators and decimal commas make no difference. Texts are written by
//! models and tools: no figure costs more than searches in sorted lists.

use super::number_factors::factor_after;
use std::collections::BTreeMap;

/// Powers of ten between an amount in whole tokens and in base units.
pub(crate) const TOKEN_SCALES: [i32; 7] = [0, 6, -6, 8, -8, 18, -18];

/// Powers of ten between units of figures: those of tokens, percent, thousands, basis points and gwei; and between rates of 18 or 27 digits
/// and their whole numbers, percent and basis points.
pub(crate) const UNIT_SCALES: [i32; 25] =
    [0, 2, -2, 3, -3, 4, -4, 6, -6, 8, -8, 9, -9, 14, -14, 16, -16, 18, -18, 23, -23, 25, -25, 27, -27];

/// Figure as it stands in a text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StatedFigure {
    pub(crate) text: String,
    /// Significant digits, without zeros at either end.
    digits: String,
    /// Power of ten of a factor after the figure, such as "million"; 0 without one.
    power: i32,
}

/// Digits from which a figure is precise enough to be checked.
const MIN_DIGITS: usize = 3;

/// Digits that are compared; the largest integer of the EVM has 78.
const MAX_DIGITS: usize = 80;

impl StatedFigure {
    /// Returns whether the figure can be checked: it has enough digits and is not a year.
    pub(crate) fn is_precise(&self) -> bool {
        let is_year = self.text.len() == 4 && self.text.starts_with("20") && self.text.bytes().all(|byte| byte.is_ascii_digit());
        self.digits.len() >= MIN_DIGITS && !is_year
    }

    /// Returns the number of digits without zeros at either end.
    pub(crate) fn significant_digits(&self) -> usize {
        self.digits.len()
    }

    /// Returns the numbers that the text can mean: a single separator before three digits is one of thousands or a decimal one, and the
    /// factor after a figure may belong to it or not: "5m" are minutes, too.
    pub(crate) fn readings(&self) -> Vec<f64> {
        let texts = self.reading_texts();
        let scaled = texts.iter().filter(|_| self.power != 0).map(|text| format!("{text}e{}", self.power));
        let all = texts.iter().cloned().chain(scaled);
        all.filter_map(|text| text.parse().ok()).filter(|number: &f64| number.is_finite()).collect()
    }

    /// Returns the powers of ten of the first significant digit, one for each reading.
    fn exponents(&self) -> Vec<i32> {
        let plain: Vec<i32> = self.reading_texts().iter().map(|text| exponent_of(text)).collect();
        let scaled = plain.iter().filter(|_| self.power != 0).map(|exponent| exponent.saturating_add(self.power));
        plain.iter().copied().chain(scaled).collect()
    }

    /// Returns the power of ten of the reading in which a dot that may be decimal separates thousands: 4 for "16.312".
    fn dotted_exponent(&self) -> Option<i32> {
        let readings = self.reading_texts();
        let is_dotted = self.power == 0 && readings.len() == 2 && self.text.contains('.');
        readings.first().filter(|_| is_dotted).map(|text| exponent_of(text))
    }

    fn reading_texts(&self) -> Vec<String> {
        let plain: String = self.text.chars().filter(|c| c.is_ascii_digit() || matches!(c, '.' | ',')).collect();
        let last = plain.rfind(['.', ',']);
        let whole: String = plain.chars().filter(char::is_ascii_digit).collect();
        let marks = plain.matches(['.', ',']).count();
        let as_decimal = last.map(|at| {
            let tail = &plain[at + 1..];
            format!("{}.{tail}", plain[..at].chars().filter(char::is_ascii_digit).collect::<String>())
        });
        // No group of thousands begins with 0: "0.932" is a fraction.
        let is_grouped = |at: usize| {
            !plain.starts_with('0') && plain.len() - at == 4 && (marks > 1 && plain[..at].contains(&plain[at..=at]) || marks == 1)
        };
        let mut found = vec![];
        match last {
            None => found.push(whole),
            Some(at) if is_grouped(at) => found.extend([whole].into_iter().chain(as_decimal.filter(|_| marks == 1))),
            Some(_) => found.extend(as_decimal),
        }
        found
    }

    /// Returns the size of the last digit of a decimal fraction; 0 for whole numbers, whose zeros may be exact.
    pub(crate) fn unit_of(&self, reading: f64) -> f64 {
        if reading.fract() == 0.0 { 0.0 } else { 10_f64.powi(reading.log10().floor() as i32 + 1 - self.digits.len() as i32) }
    }

    /// Returns whether the figure is one of these values, in ascending order, rounded or cut off to its digits.
    pub(crate) fn is_among(&self, values: &[f64]) -> bool {
        self.has_reading_among(self.readings(), values)
    }

    /// Returns whether the figure is one of these rates, as in [`Self::is_among`]. The dot of "16.312" does not separate thousands of basis
    /// points.
    pub(crate) fn is_rate_among(&self, rates: &[f64]) -> bool {
        let grouped = usize::from(self.dotted_exponent().is_some());
        self.has_reading_among(self.readings().split_off(grouped), rates)
    }

    fn has_reading_among(&self, readings: Vec<f64>, values: &[f64]) -> bool {
        readings.into_iter().filter(|reading| *reading > 0.0).any(|reading| {
            let unit = 10_f64.powi(reading.log10().floor() as i32 + 1 - self.digits.len() as i32);
            // The margin allows for the rounding of the numbers themselves.
            let (least, most) = (reading - 0.500_001 * unit, reading + 1.000_001 * unit);
            values.get(values.partition_point(|value| *value < least)).is_some_and(|value| *value <= most)
        })
    }
}

/// Returns the power of ten of the first significant digit of a plain number.
fn exponent_of(text: &str) -> i32 {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let whole = whole.trim_start_matches('0').len();
    let zeros = fraction.len() - fraction.trim_start_matches('0').len();
    let places = |count: usize| i32::try_from(count).unwrap_or(i32::MAX - 1);
    if whole > 0 { places(whole) - 1 } else { -places(zeros) - 1 }
}

/// Figures that others are held against: by the power of ten of the first digit, in the order of their digits.
#[derive(Debug)]
pub(crate) struct FigureIndex<'f> {
    digits: BTreeMap<i32, Vec<&'f str>>,
}

impl<'f> FromIterator<&'f StatedFigure> for FigureIndex<'f> {
    fn from_iter<I: IntoIterator<Item = &'f StatedFigure>>(figures: I) -> Self {
        let mut digits: BTreeMap<i32, Vec<&str>> = BTreeMap::new();
        for figure in figures {
            for exponent in figure.exponents() {
                digits.entry(exponent).or_default().push(&figure.digits);
            }
        }
        for sorted in digits.values_mut() {
            sorted.sort_unstable();
            sorted.dedup();
        }
        Self { digits }
    }
}

impl FigureIndex<'_> {
    /// Returns whether a figure is one of these, rounded or cut off to its digits, but for one of the powers of ten. Percent and basis points
    /// are seldom written with a dot between thousands: "16.312" is not 1.6312 in basis points.
    pub(crate) fn has_source_of(&self, figure: &StatedFigure, scales: &[i32]) -> bool {
        let dotted = figure.dotted_exponent();
        let is_scale = |exponent: i32, scale: &i32| dotted != Some(exponent) || TOKEN_SCALES.contains(scale);
        let has_scaled = |exponent: i32| {
            let mut fitting = scales.iter().filter(|scale| is_scale(exponent, scale));
            fitting.any(|scale| self.digits.get(&exponent.saturating_add(*scale)).is_some_and(|sorted| has_digits(sorted, &figure.digits)))
        };
        figure.exponents().into_iter().any(has_scaled)
    }
}

/// Returns whether one of the sorted digits begins with the wanted ones, or rounds up to them. Short figures are not rounded.
fn has_digits(sorted: &[&str], wanted: &str) -> bool {
    let from = |least: &str| sorted.get(sorted.partition_point(|digits| *digits < least)).copied().unwrap_or_default();
    let first = from(wanted);
    if first == wanted || wanted.len() < MIN_DIGITS {
        return first == wanted;
    }
    // Rounded up, the source goes on with 5 or more after digits that end in one less. Significant digits do not end in 0.
    let (head, last) = wanted.split_at(wanted.len() - 1);
    let below = last.bytes().map(|digit| char::from(digit - 1)).fold(head.to_owned(), |text, digit| text + digit.encode_utf8(&mut [0; 4]));
    first.starts_with(wanted) || from(&format!("{below}5")).starts_with(&below)
}

/// Returns the figures of a text. Digits that belong to a name, an address, a date or a time are none.
pub(crate) fn figures_of(text: &str) -> Vec<StatedFigure> {
    let letters: Vec<char> = text.chars().collect();
    let mut found = vec![];
    let mut at = 0;
    while at < letters.len() {
        if !letters[at].is_ascii_digit() {
            at += 1;
            continue;
        }
        let end = figure_end(&letters, at);
        if !is_part_of_name(&letters, at, end) {
            let power = factor_after(&letters, end).map_or(0, |factor| factor.power);
            found.extend(new_figure(&letters[at..end], power));
        }
        // The rest of a name or date is skipped with it.
        at = end;
        while at < letters.len() && letters[at - 1].is_ascii_alphanumeric() && letters[at].is_ascii_alphanumeric() {
            at += 1;
        }
    }
    found
}

fn new_figure(letters: &[char], power: i32) -> Option<StatedFigure> {
    let text: String = letters.iter().collect();
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let digits = digits.trim_matches('0');
    let digits = digits[..digits.len().min(MAX_DIGITS)].trim_end_matches('0').to_owned();
    (!digits.is_empty()).then_some(StatedFigure { text, digits, power })
}

/// Returns the end of the figure that begins here: digits with separators between them; a space or apostrophe separates thousands only.
fn figure_end(letters: &[char], start: usize) -> usize {
    let is_digit = |at: usize| letters.get(at).is_some_and(char::is_ascii_digit);
    let mut end = start;
    loop {
        while is_digit(end) {
            end += 1;
        }
        let group = |at: usize| is_digit(at) && is_digit(at + 1) && is_digit(at + 2) && !is_digit(at + 3);
        let goes_on = match letters.get(end) {
            Some('.' | ',') => is_digit(end + 1),
            Some('_') => group(end + 1),
            Some(' ' | '\u{a0}' | '\u{202f}' | '\'' | '’') => group(end + 1) && end - start <= 11 && is_short_group(letters, start, end),
            Some(_) | None => false,
        };
        if !goes_on {
            return end;
        }
        end += 1;
    }
}

/// Returns whether what stands before a space can be the first groups of a number: one to three digits, then groups of three.
fn is_short_group(letters: &[char], start: usize, end: usize) -> bool {
    let run = letters[start..end].iter().rev().take_while(|letter| letter.is_ascii_digit()).count();
    (1..=3).contains(&run)
}

/// Returns whether digits belong to a name (`v3`, `0x12`, `golem-01`), a date or a time.
fn is_part_of_name(letters: &[char], start: usize, end: usize) -> bool {
    let before = start.checked_sub(1).map(|at| letters[at]);
    let second = start.checked_sub(2).map(|at| letters[at]);
    let after = letters.get(end).copied();
    let second_after = letters.get(end + 1).copied();
    let joins = |letter: char| matches!(letter, '-' | '_' | ':' | '/' | '#');
    let follows_name = before.is_some_and(|letter| letter.is_ascii_alphabetic() || letter == '#')
        || before.is_some_and(joins) && second.is_some_and(|letter| letter.is_ascii_alphanumeric());
    let leads_name = after == Some('x') && letters[start] == '0'
        || after.is_some_and(|letter| matches!(letter, '-' | ':' | '/')) && second_after.is_some_and(|letter| letter.is_ascii_digit());
    follows_name || leads_name
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        figures_of(text).into_iter().map(|figure| figure.text).collect()
    }

    fn rounds(stated: &str, source: &str) -> bool {
        figures_of(source).iter().collect::<FigureIndex<'_>>().has_source_of(&figures_of(stated)[0], &UNIT_SCALES)
    }

    #[test]
    fn names_dates_and_addresses_are_no_figures() {
        assert_eq!(
            texts("golem-01 sent 1,234.50 USDC to 0xca9E0123 on 2026-03-08 at 12:30; v3, 3 226,52 and 24.5m"),
            ["1,234.50", "3 226,52", "24.5"]
        );
        assert_eq!(texts("8453:1842 and bid-311, 30% of 12_500_000"), ["30", "12_500_000"]);
    }

    #[test]
    fn units_separators_and_rounding_make_no_difference() {
        for (stated, source) in [
            ("0.0931838", "0.093183800232098894"),
            ("0.0932", "93183800232098894"),
            ("3,226.52", "3226.519808"),
            ("3 226,52", "3226.519808"),
            ("24.5m", "24500000"),
            ("3.08 percent", "308"),
            ("1.2500", "1.25"),
            ("1.234", "1234"),
            ("1.234", "1234000000"),
            ("1,250 bps", "12.5"),
            ("12.345.678 gwei", "0.012345678"),
            ("1.24", "1.2399996"),
            ("1.25 million", "1250000000000"),
            ("1.25M", "1250000000000000000000000"),
            ("1.25 million", "1250000"),
            ("1250000", "1.25 million"),
            ("1,25 Mio.", "1250000"),
            ("12.5 lakh", "1250000"),
            ("12.5 lakh", "1250000000000"),
            ("1.25 crore", "12500000"),
            ("125万", "1250000"),
            ("2.15 billion", "2150000000000000"),
            ("3.45 percent", "34500000000000000"),
            ("345 bps", "34500000000000000"),
            ("34500000000000000", "3.45"),
            ("1.0345", "1034500000000000000000000000"),
            ("3.45", "34500000000000000000000000"),
            ("345", "34500000000000000000000000"),
            ("1.25e24", "1250000000000000000000000"),
        ] {
            assert!(rounds(stated, source), "{stated} for {source}");
        }
        for (stated, source) in [
            ("0.0941", "0.093183"),
            ("4,226.52", "3226.519808"),
            ("3.09", "308"),
            ("3.09", "3084"),
            ("0.26", "0.2595825"),
            ("3.11", "309999"),
            ("2500", "250"),
            ("0.932", "93183800232098894"),
            ("32,265.2", "3226.519808"),
            ("1.25 million", "12500000000000"),
            ("1.25 million", "125000"),
            ("12.5", "1250000"),
            ("3.45 percent", "345000000000000000"),
            ("16.312", "1.6312"),
            ("16.312", "163.12"),
            ("1.0345", "10345000000000000000000000000"),
            ("34.5", "3450000000000000000000000000"),
        ] {
            assert!(!rounds(stated, source), "{stated} for {source}");
        }
    }

    #[test]
    fn a_separator_before_three_digits_has_two_readings() {
        let readings = |text: &str| figures_of(text)[0].readings();
        assert_eq!(readings("1.234"), [1234.0, 1.234]);
        assert_eq!(readings("0.932"), [0.932]);
        assert_eq!(readings("1,234.56"), [1234.56]);
        assert_eq!(readings("1.234,56"), [1234.56]);
        assert_eq!(readings("12,345,678"), [12_345_678.0]);
        assert_eq!(readings("1.005 million"), [1005.0, 1.005, 1_005_000_000.0, 1_005_000.0]);
        assert_eq!(readings("12.5 lakh"), [12.5, 1_250_000.0]);
        let is_about = |text: &str, value: f64| figures_of(text)[0].is_among(&[1.0, value, 1e9]);
        assert!(is_about("29.8", 29.846) && is_about("29.8", 29.899) && is_about("29.8", 29.76));
        assert!(!is_about("29.8", 29.95) && !is_about("29.8", 29.74));
        let is_rate = |text: &str, value: f64| figures_of(text)[0].is_rate_among(&[value]);
        assert!(is_rate("16.312", 16.312) && is_rate("1,250", 1250.0) && !is_rate("16.312", 16_312.0) && is_about("16.312", 16_312.0));
    }

    #[test]
    fn powers_of_ten_follow_the_readings() {
        let exponents = |text: &str| figures_of(text)[0].exponents();
        assert_eq!(exponents("1.234"), [3, 0]);
        assert_eq!(exponents("0.00125"), [-3]);
        assert_eq!(exponents("12,345,678"), [7]);
        let source = figures_of("250000000");
        let index: FigureIndex<'_> = source.iter().collect();
        assert!(index.has_source_of(&figures_of("250")[0], &TOKEN_SCALES));
        assert!(!index.has_source_of(&figures_of("25000")[0], &TOKEN_SCALES));
    }

    #[test]
    fn figures_beyond_all_numbers_match_nothing() {
        let endless = "7".repeat(400);
        let figure = &figures_of(&endless)[0];
        assert!(!figure.is_among(&[1.0, 777.0, f64::MAX]) && figure.digits.len() == MAX_DIGITS);
    }
}
