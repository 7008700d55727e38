//! Parses measures in digits or words: percent, basis points, dollars, multiples, parts and durations.

use crate::mention_value::MentionValue;
use lexical::WordToken;
use model::Decimal;

const SMALL_NUMBERS: &[(&str, u64)] = &[
    ("one", 1),
    ("two", 2),
    ("three", 3),
    ("four", 4),
    ("five", 5),
    ("six", 6),
    ("seven", 7),
    ("eight", 8),
    ("nine", 9),
    ("ten", 10),
    ("eleven", 11),
    ("twelve", 12),
    ("fifteen", 15),
    ("twenty", 20),
    ("thirty", 30),
    ("forty", 40),
    ("fifty", 50),
    ("sixty", 60),
    ("seventy", 70),
    ("eighty", 80),
    ("ninety", 90),
];
const LARGE_NUMBERS: &[(&str, i64)] = &[("hundred", 2), ("thousand", 3), ("grand", 3), ("million", 6), ("billion", 9)];
/// Fractions in basis points.
const FRACTIONS_BPS: &[(&str, u64)] =
    &[("half", 5000), ("third", 3333), ("quarter", 2500), ("fifth", 2000), ("tenth", 1000), ("halve", 5000)];
const TIME_UNITS: &[(&str, u64)] = &[
    ("second", 1),
    ("sec", 1),
    ("minut", 60),
    ("minute", 60),
    ("min", 60),
    ("hour", 3600),
    ("hr", 3600),
    ("dai", 86_400),
    ("day", 86_400),
    ("week", 604_800),
    ("month", 2_592_000),
    ("quarter", 7_776_000),
    ("year", 31_536_000),
];

/// Returns the measure at a position, and the number of its words.
pub(crate) fn measure_at(words: &[WordToken], at: usize) -> Option<(MentionValue, usize)> {
    let lower = words[at].lower.as_str();
    if matches!(lower, "all" | "everything" | "entire" | "whole" | "max" | "maximum") {
        return is_whole_amount(words, at).then_some((MentionValue::All, 1));
    }
    if let Some(found) = period_at(words, at) {
        return Some(found);
    }
    let (number, count) = number_at(words, at)?;
    let after = |n: usize| words.get(at + count + n).map(|word| word.lower.as_str());
    let raw = words[at].raw.as_str();
    if raw.ends_with('%') || after(0).is_some_and(|next| matches!(next, "%" | "percent" | "pct" | "percentage")) {
        return Some((MentionValue::BasisPoints(number.value.shifted(2)), count + usize::from(!raw.ends_with('%'))));
    }
    if after(0) == Some("per") && after(1) == Some("cent") {
        return Some((MentionValue::BasisPoints(number.value.shifted(2)), count + 2));
    }
    // "half a percent"
    if matches!(after(0), Some("a" | "of")) && matches!(after(1), Some("percent" | "%" | "a")) {
        let skip = if after(1) == Some("a") { 2 } else { 1 };
        if after(skip) == Some("percent") {
            return Some((MentionValue::BasisPoints(number.value.shifted(2)), count + skip + 1));
        }
    }
    if after(0).is_some_and(|next| matches!(next, "bps" | "bp" | "bips")) {
        return Some((MentionValue::BasisPoints(number.value), count + 1));
    }
    if after(0) == Some("basis") && after(1).is_some_and(|next| next.starts_with("point")) {
        return Some((MentionValue::BasisPoints(number.value), count + 2));
    }
    if raw.starts_with('$') || raw.ends_with('$') {
        return Some((MentionValue::Dollars(number.value), count));
    }
    if after(0).is_some_and(|next| matches!(next, "dollar" | "dollars" | "usd" | "bucks" | "$")) {
        return Some((MentionValue::Dollars(number.value), count + 1));
    }
    if after(0).is_some_and(|next| matches!(next, "cent" | "cents")) {
        return Some((MentionValue::Dollars(number.value.shifted(-2)), count + 1));
    }
    if let Some(seconds) = words.get(at + count).and_then(time_unit_seconds) {
        return Some((time_span(&number.value, seconds), count + 1));
    }
    // "half an hour"
    if matches!(after(0), Some("a" | "an"))
        && let Some(seconds) = words.get(at + count + 1).and_then(time_unit_seconds)
    {
        return Some((time_span(&number.value, seconds), count + 2));
    }
    if let Some(what) = parse_compact(raw) {
        return Some((what, 1));
    }
    // "half an ether" is an amount, "half of the ether" a part of the balance.
    if number.part && matches!(after(0), Some("a" | "an")) {
        return Some((MentionValue::Number(number.value), count + 1));
    }
    if number.part && after(0) == Some("of") && matches!(after(1), Some("a" | "an")) {
        return Some((MentionValue::Number(number.value), count + 2));
    }
    if number.part {
        Some((MentionValue::Fraction(number.value.shifted(4)), count))
    } else {
        Some((MentionValue::Number(number.value), count))
    }
}

struct SpokenNumber {
    value: Decimal,
    /// Set for fractions such as "half", which mean a part unless a unit follows.
    part: bool,
}

fn number_at(words: &[WordToken], at: usize) -> Option<(SpokenNumber, usize)> {
    let raw = words[at].raw.trim_matches(|c| matches!(c, '$' | '€' | '%' | '#' | '~'));
    let value = |value| SpokenNumber { value, part: false };
    if let Some(number) = parse_scaled(raw) {
        let times = words.get(at + 1).and_then(|next| LARGE_NUMBERS.iter().find(|(word, _)| *word == next.lower));
        return Some(match times {
            Some((_, places)) => (value(number.shifted(*places)), 2),
            None => (value(number), 1),
        });
    }
    if parse_compact(raw).is_some() {
        let digits: String = raw.chars().take_while(|c| c.is_ascii_digit() || matches!(c, '.' | ',')).collect();
        return Decimal::parse_typed(&digits).map(|number| (value(number), 1));
    }
    number_words_at(words, at)
}

/// Parses number words: "two", "fifty five", "a hundred", "half", "three quarters", "one and a half", "a third".
fn number_words_at(words: &[WordToken], at: usize) -> Option<(SpokenNumber, usize)> {
    let lower = |n: usize| words.get(at + n).map_or("", |word| word.lower.as_str());
    let small = |word: &str| SMALL_NUMBERS.iter().find(|(name, _)| *name == word).map(|(_, number)| *number);
    let part = |word: &str| {
        FRACTIONS_BPS.iter().find(|(name, _)| *name == word.trim_end_matches('s')).map(|(_, bps)| Decimal::from(*bps).shifted(-4))
    };
    let large = |word: &str| LARGE_NUMBERS.iter().find(|(name, _)| *name == word).map(|(_, places)| *places);
    if let Some(value) = part(lower(0)).filter(|_| lower(0) == "half" || at > 0 && lower(0) != "quarter") {
        return Some((SpokenNumber { value, part: true }, 1));
    }
    if matches!(lower(0), "a" | "one" | "an")
        && let Some(value) = part(lower(1))
    {
        return Some((SpokenNumber { value, part: true }, 2));
    }
    if lower(0) == "a"
        && let Some(places) = large(lower(1))
    {
        return Some((SpokenNumber { value: Decimal::from(1).shifted(places), part: false }, 2));
    }
    let mut value = small(lower(0))?;
    let mut count = 1;
    if value >= 20
        && let Some(more) = small(lower(1)).filter(|more| *more < 10)
    {
        value += more;
        count = 2;
    }
    if lower(count) == "and" && matches!(lower(count + 1), "a" | "one") && lower(count + 2) == "half" {
        return Some((SpokenNumber { value: Decimal::from(value * 10 + 5).shifted(-1), part: false }, count + 3));
    }
    if value == 3 && lower(count) == "quarters" {
        return Some((SpokenNumber { value: Decimal::from(75).shifted(-2), part: true }, count + 1));
    }
    let places = large(lower(count));
    // A single "one" is usually a pronoun.
    if value == 1 && places.is_none() && words.get(at + count).and_then(time_unit_seconds).is_none() && !lower(count).starts_with("percent")
    {
        return None;
    }
    let number = Decimal::from(value).shifted(places.unwrap_or(0));
    Some((SpokenNumber { value: number, part: false }, count + usize::from(places.is_some())))
}

/// Parses numbers with a scale suffix: "2k", "1.5m".
fn parse_scaled(raw: &str) -> Option<Decimal> {
    if let Some(number) = Decimal::parse_typed(raw) {
        return Some(number);
    }
    let lower = raw.to_lowercase();
    let (places, number) = [("k", 3), ("m", 6), ("mn", 6), ("mio", 6), ("b", 9), ("bn", 9)]
        .iter()
        .find_map(|(suffix, places)| lower.strip_suffix(suffix).and_then(Decimal::parse_typed).map(|number| (*places, number)))?;
    Some(number.shifted(places))
}

/// Reports whether a word means the whole amount: "all of it", "all my ETH", "everything", but not "all right" or "all supported bridges".
fn is_whole_amount(words: &[WordToken], at: usize) -> bool {
    let next = words.get(at + 1).map_or("", |word| word.lower.as_str());
    match words[at].lower.as_str() {
        "all" => {
            matches!(next, "of" | "my" | "our" | "the" | "that" | "it" | "i") || next.is_empty() || words[at + 1].clause != words[at].clause
        }
        "max" | "maximum" => words.get(at + 1).is_none_or(|word| word.clause != words[at].clause),
        "everything" => true,
        _ => at > 0 && matches!(words[at - 1].lower.as_str(), "my" | "our" | "the"),
    }
}

fn time_unit_seconds(word: &WordToken) -> Option<u64> {
    TIME_UNITS.iter().find(|(name, _)| *name == word.stem || *name == word.lower.trim_end_matches('s')).map(|(_, seconds)| *seconds)
}

/// Parses compact measures: "24h", "7d", "3x".
fn parse_compact(raw: &str) -> Option<MentionValue> {
    let split = raw.find(|c: char| c.is_ascii_alphabetic())?;
    let number = Decimal::parse_typed(&raw[..split])?;
    let seconds = match raw[split..].to_lowercase().as_str() {
        "x" => return Some(MentionValue::Multiple(number)),
        "%" => return None,
        "s" | "sec" => 1,
        "min" | "mins" => 60,
        "h" | "hr" | "hrs" => 3600,
        "d" => 86_400,
        "w" => 604_800,
        "y" | "yr" => 31_536_000,
        _ => return None,
    };
    Some(time_span(&number, seconds))
}

/// Returns a period without a number: "an hour", "last week", "the past month".
fn period_at(words: &[WordToken], at: usize) -> Option<(MentionValue, usize)> {
    let seconds = words.get(at + 1).and_then(time_unit_seconds)?;
    let recent = matches!(words[at].lower.as_str(), "last" | "past" | "previous" | "this");
    // "a quarter" usually means a part, and "a second" another one.
    let one = matches!(words[at].lower.as_str(), "a" | "an" | "per") && !matches!(words[at + 1].lower.as_str(), "quarter" | "second");
    (recent || one).then(|| (time_span(&Decimal::from(1), seconds), 2))
}

fn time_span(number: &Decimal, seconds: u64) -> MentionValue {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "durations in messages are small and not negative")]
    let total = (number.as_f64() * seconds as f64).round() as u64;
    let (count, letter) = [(86_400, 'd'), (3600, 'h'), (60, 'm'), (1, 's')]
        .into_iter()
        .find(|(unit, _)| total.is_multiple_of(*unit) && total >= *unit)
        .map_or((total, 's'), |(unit, letter)| (total / unit, letter));
    // One day is written as "24h", longer periods in days.
    let text = if (count, letter) == (1, 'd') { "24h".to_owned() } else { format!("{count}{letter}") };
    MentionValue::Duration { seconds: total, text }
}

/// Returns an ISO date, with or without time.
pub(crate) fn parse_date(raw: &str) -> Option<String> {
    let day = raw.get(..10)?;
    let shaped = day.bytes().enumerate().all(|(at, byte)| if matches!(at, 4 | 7) { byte == b'-' } else { byte.is_ascii_digit() });
    (shaped && (raw.len() == 10 || raw.as_bytes()[10] == b'T')).then(|| raw.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use lexical::tokenize;

    fn read(text: &str) -> Vec<MentionValue> {
        let words = tokenize(text);
        let mut found = vec![];
        let mut at = 0;
        while at < words.len() {
            let (what, count) = measure_at(&words, at).map_or((None, 1), |(what, count)| (Some(what), count));
            found.extend(what);
            at += count;
        }
        found
    }

    fn one(text: &str) -> MentionValue {
        let found = read(text);
        assert_eq!(found.len(), 1, "{text}: {found:?}");
        found.into_iter().next().unwrap()
    }

    fn decimal(text: &str) -> Decimal {
        Decimal::parse_strict(text).unwrap()
    }

    fn number(text: &str) -> MentionValue {
        MentionValue::Number(decimal(text))
    }

    fn share(text: &str) -> MentionValue {
        MentionValue::BasisPoints(decimal(text))
    }

    #[test]
    fn parses_amounts_in_figures_and_words() {
        for (text, value) in [
            ("2k", "2000"),
            ("1.5m", "1500000"),
            ("1,250.50", "1250.5"),
            ("fifty five", "55"),
            ("a hundred", "100"),
            ("two thousand", "2000"),
            ("3 million", "3000000"),
            ("one and a half", "1.5"),
            ("half an ether", "0.5"),
            ("a quarter of a bitcoin", "0.25"),
        ] {
            assert_eq!(one(text), number(value), "{text}");
        }
        assert_eq!(one("half of the ether"), MentionValue::Fraction(decimal("5000")));
    }

    #[test]
    fn parses_percent_and_basis_points() {
        for (text, bps) in [
            ("0.5%", "50"),
            ("half a percent", "50"),
            ("0.3 percent", "30"),
            ("50 bps", "50"),
            ("25 basis points", "25"),
            ("one percent", "100"),
            ("a quarter of a percent", "25"),
            ("1 per cent", "100"),
        ] {
            assert_eq!(one(text), share(bps), "{text}");
        }
    }

    #[test]
    fn parses_dollars_multiples_and_fractions() {
        assert_eq!(one("$1,500"), MentionValue::Dollars(decimal("1500")));
        assert_eq!(one("500 dollars"), MentionValue::Dollars(decimal("500")));
        assert_eq!(one("5 cents"), MentionValue::Dollars(decimal("0.05")));
        assert_eq!(one("3x"), MentionValue::Multiple(decimal("3")));
        assert_eq!(one("half of it"), MentionValue::Fraction(decimal("5000")));
        assert_eq!(one("three quarters of it"), MentionValue::Fraction(decimal("7500")));
        assert_eq!(one("all of it"), MentionValue::All);
        assert_eq!(one("everything"), MentionValue::All);
        assert!(read("all supported bridges and one of them").is_empty());
        assert!(read("get a second opinion").is_empty());
    }

    #[test]
    fn parses_durations() {
        for (text, seconds, short) in [
            ("30 minutes", 1800, "30m"),
            ("24h", 86_400, "24h"),
            ("7d", 604_800, "7d"),
            ("30-day", 2_592_000, "30d"),
            ("last week", 604_800, "7d"),
            ("an hour", 3600, "1h"),
            ("half an hour", 1800, "30m"),
            ("three months", 7_776_000, "90d"),
            ("ten seconds", 10, "10s"),
        ] {
            assert_eq!(one(text), MentionValue::Duration { seconds, text: short.into() }, "{text}");
        }
    }

    #[test]
    fn parses_dates() {
        assert_eq!(parse_date("2026-03-08").as_deref(), Some("2026-03-08"));
        assert_eq!(parse_date("2026-03-08T12:00:00Z").as_deref(), Some("2026-03-08T12:00:00Z"));
        assert_eq!(parse_date("2026-3-8"), None);
    }
}
