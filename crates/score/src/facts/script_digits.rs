//! Numbers of a text in plain digits: digits of every script, suffixes for thousands and millions, and English number words.

use std::iter::Peekable;

/// Zeros of the decimal digits of scripts; each is followed by the other nine.
const ZEROS: [char; 14] = [
    '\u{660}', '\u{6f0}', '\u{966}', '\u{9e6}', '\u{a66}', '\u{ae6}', '\u{b66}', '\u{be6}', '\u{c66}', '\u{ce6}', '\u{d66}', '\u{e50}',
    '\u{ed0}', '\u{ff10}',
];
const UNITS: [&str; 20] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
];
const TENS: [&str; 8] = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
/// Words and suffixes that multiply, with their factors.
const FACTORS: [(&str, u64); 6] =
    [("hundred", 100), ("thousand", 1_000), ("million", 1_000_000), ("k", 1_000), ("m", 1_000_000), ("mm", 1_000_000)];

/// Returns the text with every number in plain digits: "five thousand", "5k" and "٥٠٠٠" become "5000".
pub(crate) fn with_digits(text: &str) -> String {
    let plain: String = text.chars().map(plain_digit).collect();
    let mut words = plain.split_whitespace().peekable();
    let mut written: Vec<String> = vec![];
    while let Some(word) = words.next() {
        written.push(number_from(word, &mut words).unwrap_or_else(|| word.to_owned()));
    }
    written.join(" ")
}

fn plain_digit(c: char) -> char {
    let value = ZEROS.iter().find_map(|zero| (u32::from(c)).checked_sub(u32::from(*zero)).filter(|value| *value < 10));
    value.and_then(|value| char::from_digit(value, 10)).unwrap_or(c)
}

/// Returns the number that begins with a word, and takes the further words of it.
fn number_from<'a>(word: &str, rest: &mut Peekable<impl Iterator<Item = &'a str>>) -> Option<String> {
    if word.starts_with(|c: char| c.is_ascii_digit()) {
        return figure_with_factor(word, rest);
    }
    let mut number = WordNumber::default();
    if !number.add(word) {
        return None;
    }
    while rest.peek().is_some_and(|next| number.add(next)) {
        rest.next();
    }
    Some(number.value().to_string())
}

/// Returns a figure with a suffix or a following factor: "5k", "1.2 million".
fn figure_with_factor<'a>(word: &str, rest: &mut Peekable<impl Iterator<Item = &'a str>>) -> Option<String> {
    let end = word.find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | ',')).unwrap_or(word.len());
    let (figure, suffix) = word.split_at(end);
    let factor = |name: &str| FACTORS.iter().find(|(known, _)| name.eq_ignore_ascii_case(known)).map(|(_, factor)| *factor);
    let factor = match factor(suffix) {
        Some(factor) => factor,
        None => {
            let next = rest.peek().filter(|next| suffix.is_empty() && next.len() > 2).and_then(|next| factor(next))?;
            rest.next();
            next
        }
    };
    let value = figure.replace(',', "").parse::<f64>().ok()? * factor as f64;
    Some(value.to_string())
}

/// Number of English words, as it is read.
#[derive(Debug, Default)]
struct WordNumber {
    whole: u64,
    /// Below the last thousand or million.
    part: u64,
    is_begun: bool,
}

impl WordNumber {
    /// Adds a word or words joined by a hyphen, if all of it belongs to a number.
    fn add(&mut self, word: &str) -> bool {
        let lower = word.to_lowercase();
        if lower == "and" {
            return self.is_begun;
        }
        let parts: Option<Vec<NumberWord>> = lower.split('-').map(number_word).collect();
        let Some(parts) = parts else { return false };
        if !self.is_begun && matches!(parts.first(), Some(NumberWord::Factor(_))) {
            return false;
        }
        for part in parts {
            match part {
                NumberWord::Value(value) => self.part = self.part.saturating_add(value),
                NumberWord::Factor(100) => self.part = self.part.saturating_mul(100),
                NumberWord::Factor(factor) => {
                    self.whole = self.whole.saturating_add(self.part.saturating_mul(factor));
                    self.part = 0;
                }
            }
        }
        self.is_begun = true;
        true
    }

    fn value(&self) -> u64 {
        self.whole.saturating_add(self.part)
    }
}

enum NumberWord {
    Value(u64),
    Factor(u64),
}

fn number_word(word: &str) -> Option<NumberWord> {
    let value = |at: usize, first: u64, step: u64| NumberWord::Value(first + step * at as u64);
    let unit = UNITS.iter().position(|known| *known == word).map(|at| value(at, 0, 1));
    let ten = || TENS.iter().position(|known| *known == word).map(|at| value(at, 20, 10));
    let factor = || FACTORS.iter().find(|(known, _)| known.len() > 2 && *known == word).map(|(_, factor)| NumberWord::Factor(*factor));
    unit.or_else(ten).or_else(factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_in_plain_digits() {
        for (text, plain) in [
            ("five thousand USDC", "5000 USDC"),
            ("Twelve hundred and fifty-five DAI", "1255 DAI"),
            ("one million two hundred thousand and ten", "1200010"),
            ("5k USDC, 1.5m DAI", "5000 USDC, 1500000 DAI"),
            ("1.2 million UNI", "1200000 UNI"),
            ("٥٠٠٠ USDC", "5000 USDC"),
            ("５００ WETH", "500 WETH"),
            ("a hundred pools and 5,000 USDC", "a hundred pools and 5,000 USDC"),
            ("v3 5m-markouts", "v3 5m-markouts"),
        ] {
            assert_eq!(with_digits(text), plain, "{text}");
        }
    }
}
