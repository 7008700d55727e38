//! Parses the retry delay of a response: seconds, HTTP date or milliseconds.

use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};
use std::time::Duration;

/// Upper bound; longer delays are clamped.
const MAX_WAIT: Duration = Duration::from_secs(3600);

pub(super) fn parse_retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let millis = text("retry-after-ms").and_then(|ms| ms.parse::<f64>().ok()).map(|ms| ms / 1000.0);
    let seconds = millis.or_else(|| text(RETRY_AFTER.as_str()).and_then(|s| s.parse::<f64>().ok()));
    match seconds {
        Some(seconds) if seconds.is_finite() && seconds >= 0.0 => Some(Duration::from_secs_f64(seconds.min(MAX_WAIT.as_secs_f64()))),
        Some(_) => None,
        None => wait_until(text(RETRY_AFTER.as_str())?, text(DATE.as_str())?),
    }
}

/// Returns the time until a date, relative to the server's `Date` header, because the local clock may be wrong.
fn wait_until(then: &str, now: &str) -> Option<Duration> {
    let (then, now) = (httpdate::parse_http_date(then).ok()?, httpdate::parse_http_date(now).ok()?);
    Some(then.duration_since(now).unwrap_or_default().min(MAX_WAIT))
}

#[cfg(test)]
mod tests {
    use super::*;
    use reqwest::header::{HeaderName, HeaderValue};

    fn wait(headers: &[(&'static str, &'static str)]) -> Option<Duration> {
        let headers = headers.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        parse_retry_after(&headers.collect())
    }

    #[test]
    fn retry_after_parses_seconds_dates_and_milliseconds() {
        let date = ("date", "Sun, 15 Nov 2026 12:00:00 GMT");
        for (headers, seconds) in [
            (vec![("retry-after", "7")], Some(7.0)),
            (vec![("retry-after", "0.5")], Some(0.5)),
            (vec![("retry-after", "7"), ("retry-after-ms", "250")], Some(0.25)),
            (vec![("retry-after", "Sun, 15 Nov 2026 12:00:30 GMT"), date], Some(30.0)),
            (vec![("retry-after", "Sun, 15 Nov 2026 11:00:00 GMT"), date], Some(0.0)),
            (vec![("retry-after", "Sun, 15 Nov 2026 12:00:30 GMT")], None),
            (vec![("retry-after", "99999999")], Some(3600.0)),
            (vec![("retry-after", "-1")], None),
            (vec![("retry-after", "NaN")], None),
            (vec![("retry-after", "soon")], None),
            (vec![], None),
        ] {
            assert_eq!(wait(&headers), seconds.map(Duration::from_secs_f64), "{headers:?}");
        }
    }
}
