//! Parses points in time and durations as people and models write them.

use crate::catalog::DurationUnit;
use crate::decimal::Decimal;

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
pub fn parse_duration_ms(text: &str, unit: DurationUnit) -> Option<Decimal> {
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
pub fn parse_instant_ms(text: &str) -> Option<Decimal> {
    let (date, time) = text.split_once(['T', 't', ' ']).unwrap_or((text, "00:00"));
    let mut parts = date.splitn(3, '-');
    let (year, month, day) = (digits(parts.next()?, 4)?, digits(parts.next()?, 2)?, digits(parts.next()?, 2)?);
    if !(1..=12).contains(&month) || !(1..=days_in_month(year, month)).contains(&day) {
        return None;
    }
    let (time, offset) = split_zone(time)?;
    let mut parts = time.splitn(3, ':');
    let (hour, minute) = (digits(parts.next()?, 2)?, digits(parts.next()?, 2)?);
    let (second, fraction) = parts.next().map_or(Some((0, "")), |rest| {
        let (second, fraction) = rest.split_once('.').unwrap_or((rest, ""));
        Some((digits(second, 2)?, fraction))
    })?;
    // 24:00 is the end of a day, and second 60 a leap second.
    let is_on_clock = (hour < 24 || (hour, minute, second, fraction) == (24, 0, 0, "")) && minute < 60 && second <= 60;
    if !is_on_clock || fraction.len() > 9 || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let seconds = days_from_civil(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second - offset;
    Decimal::parse(&format!("{seconds}.{fraction}0")).filter(|_| seconds >= 0).map(|seconds| seconds.shifted(3))
}

/// Parses an ISO 8601 date to whole Unix seconds, as [`parse_instant_ms`] does.
pub fn parse_unix_s(text: &str) -> Option<u64> {
    parse_instant_ms(text)?.shifted(-3).as_u64()
}

/// Deadlines from this number on are Unix seconds; smaller ones are durations.
const MIN_UNIX_SECONDS: u64 = 1_000_000_000;

/// Deadline as a user states it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StatedDeadline {
    /// Point in time, in Unix milliseconds.
    At(Decimal),
    /// Time from now, in milliseconds.
    Within(Decimal),
}

impl StatedDeadline {
    /// Parses Unix seconds, seconds from now, or either in words: `2026-03-08T13:00:00Z`, `5 minutes`, `300`.
    pub fn parse(text: &str) -> Option<Self> {
        if let Some(unix) = text.parse::<u64>().ok().filter(|unix| *unix >= MIN_UNIX_SECONDS) {
            return Some(Self::At(Decimal::from(unix).shifted(3)));
        }
        let from_now = || parse_duration_ms(text, DurationUnit::Seconds).filter(|length| *length >= Decimal::default());
        parse_instant_ms(text).map(Self::At).or_else(|| from_now().map(Self::Within))
    }
}

/// Splits a time of day from its zone offset in seconds.
fn split_zone(time: &str) -> Option<(&str, i64)> {
    if let Some(time) = time.strip_suffix(['Z', 'z']) {
        return Some((time, 0));
    }
    let Some(at) = time.rfind(['+', '-']) else { return Some((time, 0)) };
    let (hours, minutes) = time[at + 1..].split_once(':')?;
    let (hours, minutes) = (digits(hours, 2)?, digits(minutes, 2)?);
    if hours > 23 || minutes > 59 {
        return None;
    }
    let ahead = hours * 3_600 + minutes * 60;
    Some((&time[..at], if time[at..].starts_with('-') { -ahead } else { ahead }))
}

fn digits(text: &str, len: usize) -> Option<i64> {
    (text.len() == len && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok()).flatten()
}

fn days_in_month(year: i64, month: i64) -> i64 {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
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
        for text in
            ["2026-03-08T24:01", "2026-03-08T24:00:00.5", "2026-03-08T99:99:99Z", "2026-03-08T12:00+99:00", "2026-03-08T12:00-01:60"]
        {
            assert_eq!(parse_instant_ms(text), None, "{text}");
        }
    }

    #[test]
    fn parse_instant_refuses_days_that_no_calendar_has() {
        for text in ["2026-02-31", "2026-02-29", "2100-02-29", "2026-04-31", "2026-01-32", "2026-01-00", "2026-00-01"] {
            assert_eq!(parse_instant_ms(text), None, "{text}");
        }
        for text in ["2024-02-29", "2000-02-29", "2026-12-31"] {
            assert!(parse_instant_ms(text).is_some(), "{text}");
        }
    }

    #[test]
    fn deadlines_are_points_in_time_or_times_from_now() {
        let at = |seconds: u64| Some(StatedDeadline::At(Decimal::from(seconds).shifted(3)));
        let within = |seconds: u64| Some(StatedDeadline::Within(Decimal::from(seconds).shifted(3)));
        for (text, expected) in [
            ("2026-03-08T13:00:00Z", at(1_772_974_800)),
            ("1772974800", at(1_772_974_800)),
            ("300", within(300)),
            ("300s", within(300)),
            ("5m", within(300)),
            ("5 minutes", within(300)),
            ("1h", within(3_600)),
            ("0", within(0)),
            ("soon", None),
            ("-5m", None),
            ("", None),
            ("2026-02-31", None),
        ] {
            assert_eq!(StatedDeadline::parse(text), expected, "{text}");
        }
    }

    #[test]
    fn parse_unix_s_takes_whole_seconds_only() {
        assert_eq!(parse_unix_s("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(parse_unix_s("2026-03-08T12:00:00Z"), Some(1_772_971_200));
        assert_eq!(parse_unix_s("2024-02-29T23:59:59Z"), Some(1_709_251_199));
        assert_eq!(parse_unix_s("2026-03-08T12:00:00.5Z"), None);
        assert_eq!(parse_unix_s("1969-12-31T23:59:59Z"), None);
        assert_eq!(parse_unix_s("yesterday"), None);
    }
}
