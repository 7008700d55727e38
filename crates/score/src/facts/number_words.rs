//! Numbers in English words: "twelve hundred and fifty-five", "one million two hundred thousand", "five point five million".

use super::number_factors::power_of_word;
use super::shifted_figures::shifted;

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
/// Power of ten of "hundred", and of the smallest factor of a group.
const HUNDRED: i32 = 2;
const THOUSAND: i32 = 3;
/// Power of ten that no number has.
const NO_POWER: i32 = i32::MAX;
/// Letters of the longest word.
const MAX_LETTERS: usize = 16;
/// White space between two words of a number.
const MAX_SPACES: usize = 4;
/// Words after a number in which the end of a range is looked for: "between five hundred USDC and six hundred".
const RANGE_WORDS: usize = 3;

/// Number with the position after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SpelledNumber {
    pub digits: String,
    pub end: usize,
}

/// Returns the number that begins here. In a range ("between five and ten"), the "and" before its end joins nothing.
pub(super) fn number_at(letters: &[char], at: usize, is_range: bool) -> Option<SpelledNumber> {
    let joined = NumberReader { letters, joins_and: true }.number(at)?;
    let found =
        if is_range && !range_goes_on(letters, joined.end) { NumberReader { letters, joins_and: false }.number(at)? } else { joined };
    // "five-minute" and "one-off" are names.
    let is_name = letters.get(found.end) == Some(&'-') && letters.get(found.end + 1).is_some_and(|letter| letter.is_alphabetic());
    (!is_name).then_some(found)
}

/// Returns whether "and" with another number follows soon.
fn range_goes_on(letters: &[char], end: usize) -> bool {
    let mut at = end;
    for _ in 0..RANGE_WORDS {
        let Some(word) = word_after(letters, at) else { return false };
        at = word.end;
        if word.text == "and" {
            let is_figure = letters.get(at + 1).is_some_and(char::is_ascii_digit);
            return is_figure || NumberReader { letters, joins_and: false }.number(at).is_some();
        }
    }
    false
}

/// Word in lower case with the position after it.
struct NextWord {
    text: String,
    end: usize,
}

/// Returns the word here, or after white space or a hyphen.
fn word_after(letters: &[char], at: usize) -> Option<NextWord> {
    let rest = letters.get(at..)?;
    let gap = if rest.first().is_some_and(|letter| matches!(letter, '-' | '\u{2011}')) {
        1
    } else {
        rest.iter().take(MAX_SPACES).take_while(|letter| letter.is_whitespace()).count()
    };
    let start = at + gap;
    let text: String = letters[start..].iter().take_while(|letter| letter.is_alphanumeric()).take(MAX_LETTERS + 1).collect();
    let end = start + text.chars().count();
    (end > start).then(|| NextWord { text: text.to_lowercase(), end })
}

/// Part of a number with the position after it.
#[derive(Debug, Clone, Copy)]
struct NumberPart {
    value: u64,
    end: usize,
}

struct NumberReader<'l> {
    letters: &'l [char],
    /// "and" after a hundred or a factor continues the number.
    joins_and: bool,
}

impl NumberReader<'_> {
    /// Reads groups below a thousand, each with a smaller factor than the one before.
    fn number(&self, at: usize) -> Option<SpelledNumber> {
        if let Some(found) = self.share_of_factor(at) {
            return Some(found);
        }
        let first = self.group(at)?;
        if let Some(found) = self.with_fraction(first) {
            return Some(found);
        }
        let (mut total, mut end, mut below) = (0_u64, at, NO_POWER);
        let mut next = Some(first);
        while let Some(group) = next {
            match self.factors(group.end) {
                Some((power, _)) if power >= below => break,
                Some((power, after)) => {
                    let factor = 10_u64.checked_pow(u32::try_from(power).unwrap_or(u32::MAX)).unwrap_or(u64::MAX);
                    total = total.saturating_add(group.value.saturating_mul(factor));
                    (end, below) = (after, power);
                    next = self.group(self.after_and(after));
                }
                None => {
                    total = total.saturating_add(group.value);
                    end = group.end;
                    next = None;
                }
            }
        }
        Some(SpelledNumber { digits: total.to_string(), end })
    }

    /// Reads "a thousand" and "half a million".
    fn share_of_factor(&self, at: usize) -> Option<SpelledNumber> {
        let first = word_after(self.letters, at)?;
        let (share, end) = match first.text.as_str() {
            "a" => ("1", first.end),
            "half" => ("0.5", word_after(self.letters, first.end).filter(|word| word.text == "a")?.end),
            _ => return None,
        };
        let (power, end) = self.factors(end)?;
        Some(SpelledNumber { digits: shifted(share, power), end })
    }

    /// Reads the digits after "point", with the factor after them.
    fn with_fraction(&self, whole: NumberPart) -> Option<SpelledNumber> {
        let mut end = word_after(self.letters, whole.end).filter(|word| word.text == "point")?.end;
        let mut digits = format!("{}.", whole.value);
        while let Some(word) = word_after(self.letters, end)
            && let Some(digit) = UNITS[..10].iter().position(|unit| *unit == word.text)
        {
            digits.push_str(&digit.to_string());
            end = word.end;
        }
        if digits.ends_with('.') {
            return None;
        }
        let (power, end) = self.factors(end).unwrap_or((0, end));
        Some(SpelledNumber { digits: shifted(&digits, power), end })
    }

    /// Reads factors from a thousand on: "thousand", "thousand million". Returns their power of ten and the position after them.
    fn factors(&self, at: usize) -> Option<(i32, usize)> {
        let factor = |at: usize| {
            let word = word_after(self.letters, at)?;
            let power = power_of_word(&word.text).filter(|power| *power >= THOUSAND)?;
            (word.text.len() > 1 || word.text == "k").then_some((power, word.end))
        };
        let (mut power, mut end) = factor(at)?;
        while let Some((more, after)) = factor(end) {
            (power, end) = (power.saturating_add(more), after);
        }
        Some((power, end))
    }

    /// Reads a number below a hundred, or one with hundreds.
    fn group(&self, at: usize) -> Option<NumberPart> {
        let small = self.small(at)?;
        let Some(hundred) = word_after(self.letters, small.end).filter(|word| power_of_word(&word.text) == Some(HUNDRED)) else {
            return Some(small);
        };
        let hundreds = NumberPart { value: small.value * 100, end: hundred.end };
        let is_whole = |rest: &NumberPart| word_after(self.letters, rest.end).is_none_or(|word| power_of_word(&word.text) != Some(HUNDRED));
        let rest = self.small(self.after_and(hundreds.end)).filter(is_whole);
        Some(rest.map_or(hundreds, |rest| NumberPart { value: hundreds.value + rest.value, end: rest.end }))
    }

    /// Reads a number below a hundred.
    fn small(&self, at: usize) -> Option<NumberPart> {
        let word = word_after(self.letters, at)?;
        if let Some(unit) = UNITS.iter().position(|unit| *unit == word.text) {
            return Some(NumberPart { value: unit as u64, end: word.end });
        }
        let ten = TENS.iter().position(|ten| *ten == word.text)? as u64 * 10 + 20;
        let unit = word_after(self.letters, word.end)
            .and_then(|word| Some((UNITS[..10].iter().position(|unit| *unit == word.text).filter(|unit| *unit > 0)?, word.end)));
        Some(unit.map_or(NumberPart { value: ten, end: word.end }, |(unit, end)| NumberPart { value: ten + unit as u64, end }))
    }

    /// Returns the position after an "and" that continues the number.
    fn after_and(&self, at: usize) -> usize {
        let and = word_after(self.letters, at).filter(|word| self.joins_and && word.text == "and");
        and.map_or(at, |word| word.end)
    }
}
