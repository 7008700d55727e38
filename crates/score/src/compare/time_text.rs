//! Parses points in time and durations as people and models write them.

use model::{Decimal, DurationUnit};

/// Words for units of time, with their milliseconds.
const TIME_UNITS: &[(&[&str], u64)] = &[
    (&["ms", "millisecond", "milliseconds"], 1),
    (&["s", "sec", "secs", "second", "seconds"], 1_000),
    (&["m", "min", "mins", "minute", "minutes"], 60_000),
    (&["h", "hr", "hrs", "hour", "hours"], 3_600_000),
    (&["d", "day", "days"], 86_400_000),
    (&["w", "week", "weeks"], 604_800_000),
];

/// Parses a duration to milliseconds. A bare number is in `unit`; for `Text` it is not a duration.
pub(super) fn parse_duration_ms(text: &str, unit: DurationUnit) -> Option<Decimal> {
    let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, word) = text.split_at(split);
    let word = word.to_lowercase();
    if word.is_empty() && unit == DurationUnit::Text {
        return None;
    }
    let word = if word.is_empty() { unit.word() } else { &word };
    let (_, ms) = TIME_UNITS.iter().find(|(words, _)| words.contains(&word))?;
    Decimal::parse(number.trim_end())?.checked_mul(*ms)
}

/// Parses an ISO 8601 date, with or without a time of day, to Unix milliseconds. Without a zone it is UTC.
pub(super) fn parse_instant_ms(text: &str) -> Option<Decimal> {
    let (date, time) = text.split_once(['T', 't', ' ']).unwrap_or((text, "00:00"));
    let mut parts = date.splitn(3, '-');
    let (year, month, day) = (digits(parts.next()?, 4)?, digits(parts.next()?, 2)?, digits(parts.next()?, 2)?);
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let (time, offset) = split_zone(time)?;
    let mut parts = time.splitn(3, ':');
    let (hour, minute) = (digits(parts.next()?, 2)?, digits(parts.next()?, 2)?);
    let (second, fraction) = parts.next().map_or(Some((0, "")), |rest| {
        let (second, fraction) = rest.split_once('.').unwrap_or((rest, ""));
        Some((digits(second, 2)?, fraction))
    })?;
    if hour > 24 || minute > 59 || second > 60 || fraction.len() > 9 || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let seconds = days_from_civil(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second - offset;
    Decimal::parse(&format!("{seconds}.{fraction}0")).filter(|_| seconds >= 0).map(|seconds| seconds.shifted(3))
}

/// Splits a time of day from its zone offset in seconds.
fn split_zone(time: &str) -> Option<(&str, i64)> {
    if let Some(time) = time.strip_suffix(['Z', 'z']) {
        return Some((time, 0));
    }
    let Some(at) = time.rfind(['+', '-']) else { return Some((time, 0)) };
    let (hours, minutes) = time[at + 1..].split_once(':')?;
    let ahead = digits(hours, 2)? * 3_600 + digits(minutes, 2)? * 60;
    Some((&time[..at], if time[at..].starts_with('-') { -ahead } else { ahead }))
}

fn digits(text: &str, len: usize) -> Option<i64> {
    (text.len() == len && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok()).flatten()
}

/// Days since 1970-01-01 in the Gregorian calendar (Hinnant's days_from_civil).
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parse_duration_reads_with_and_without_unit() {
        assert_eq!(parse_duration_ms("7d", DurationUnit::Text), parse_duration_ms("1 week", DurationUnit::Text));
        assert_eq!(parse_duration_ms("300", DurationUnit::Seconds), parse_duration_ms("5 minutes", DurationUnit::Text));
        assert_eq!(parse_duration_ms("1.5h", DurationUnit::Text), parse_duration_ms("90m", DurationUnit::Text));
        assert_eq!(parse_duration_ms("7", DurationUnit::Text), None);
        assert_eq!(parse_duration_ms("7 moons", DurationUnit::Text), None);
    }

    #[test]
    fn parse_instant_returns_unix_ms() {
        let unix = |seconds: u64| Some(Decimal::from(seconds).shifted(3));
        assert_eq!(parse_instant_ms("1970-01-01"), unix(0));
        assert_eq!(parse_instant_ms("2026-03-08T12:00:00Z"), unix(1_772_971_200));
        assert_eq!(parse_instant_ms("2026-03-08T14:00:00+02:00"), unix(1_772_971_200));
        assert_eq!(parse_instant_ms("2000-02-29 00:00"), unix(951_782_400));
        for text in ["2026-13-01", "yesterday", "12", "2026-03-08T12", "2026-03-08T12:00:00+2"] {
            assert_eq!(parse_instant_ms(text), None, "{text}");
        }
    }

    #[test]
    fn parse_instant_refuses_times_that_no_clock_shows() {
        for text in ["2026-03-08T25:00", "2026-03-08T12:60", "2026-03-08T12:00:61", "2026-03-08T12:00:00.1234567891"] {
            assert_eq!(parse_instant_ms(text), None, "{text}");
        }
        assert_eq!(parse_instant_ms("2026-03-08T24:00"), parse_instant_ms("2026-03-09"));
    }
}
