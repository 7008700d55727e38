//! Confidence intervals of rates.

use statrs::distribution::{Beta, ContinuousCDF};

/// Two-sided 95 % quantile of the normal distribution.
pub(super) const Z: f64 = 1.959_963_984_540_054;

/// Returns the 95 % Wilson score interval of a rate; `None` if nothing was measured.
pub fn wilson(hit: u64, of: u64) -> Option<(f64, f64)> {
    if of == 0 { None } else { Some(wilson_of_rate(hit as f64 / of as f64, of as f64)) }
}

/// Returns the 95 % Wilson score interval of a rate over `n` observations. `n` may be a fraction and must be above 0.
pub(super) fn wilson_of_rate(rate: f64, n: f64) -> (f64, f64) {
    let spread = Z * Z / n;
    let middle = (rate + spread / 2.0) / (1.0 + spread);
    let half = Z * (rate * (1.0 - rate) / n + spread / (4.0 * n)).sqrt() / (1.0 + spread);
    // Rounding must not move the interval past the rate.
    ((middle - half).clamp(0.0, rate), (middle + half).clamp(rate, 1.0))
}

/// Returns the two-sided Clopper–Pearson interval; `None` if nothing was measured.
pub fn clopper_pearson(hit: u64, of: u64, confidence: f64) -> Option<(f64, f64)> {
    if of == 0 || hit > of {
        return None;
    }
    clopper_pearson_of_rate(hit as f64, of as f64, confidence)
}

/// Like [`clopper_pearson`], for fractions of observations.
pub(super) fn clopper_pearson_of_rate(hit: f64, of: f64, confidence: f64) -> Option<(f64, f64)> {
    let each = (1.0 - confidence) / 2.0;
    Some((exact_low(hit, of, each)?, exact_high(hit, of, each)?))
}

/// Returns the one-sided lower bound of a rate. `hit` may be a fraction if one case has several tallies.
pub fn lower_bound(hit: f64, of: f64, confidence: f64) -> Option<f64> {
    exact_low(hit, of, 1.0 - confidence)
}

/// Returns the one-sided upper bound of a rate.
pub fn upper_bound(hit: f64, of: f64, confidence: f64) -> Option<f64> {
    exact_high(hit, of, 1.0 - confidence)
}

/// Returns the failure rate that `n` trials without a failure rule out.
pub fn ruled_out_failure_rate(n: usize, confidence: f64) -> Option<f64> {
    (n > 0).then(|| 1.0 - (1.0 - confidence).powf(1.0 / n as f64))
}

fn exact_low(hit: f64, of: f64, tail: f64) -> Option<f64> {
    // The beta distribution is undefined for 0 hits; the bound is 0.
    if hit <= 0.0 {
        return (of > 0.0).then_some(0.0);
    }
    let beta = Beta::new(hit, of - hit + 1.0).ok()?;
    Some(beta.inverse_cdf(tail).clamp(0.0, hit / of))
}

fn exact_high(hit: f64, of: f64, tail: f64) -> Option<f64> {
    if hit >= of {
        return (of > 0.0).then_some(1.0);
    }
    let beta = Beta::new(hit + 1.0, of - hit).ok()?;
    Some(beta.inverse_cdf(1.0 - tail).clamp(hit / of, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hits, total, and the limits of Wilson and of Clopper and Pearson at 95 %, as statistical tables print them.
    const TABLE: &[(u64, u64, [f64; 2], [f64; 2])] = &[
        (0, 10, [0.0, 0.2775], [0.0, 0.3085]),
        (1, 10, [0.0179, 0.4042], [0.0025, 0.4450]),
        (5, 10, [0.2366, 0.7634], [0.1871, 0.8129]),
        (17, 20, [0.6396, 0.9476], [0.6211, 0.9679]),
        (15, 148, [0.0624, 0.1605], [0.0578, 0.1617]),
        (81, 263, [0.2553, 0.3662], [0.2527, 0.3676]),
    ];

    #[test]
    fn intervals_match_published_tables() {
        let is_close = |(low, high): (f64, f64), expected: [f64; 2]| (low - expected[0]).abs() < 1e-4 && (high - expected[1]).abs() < 1e-4;
        for (hit, of, score, exact) in TABLE {
            let (found_score, found_exact) = (wilson(*hit, *of).unwrap(), clopper_pearson(*hit, *of, 0.95).unwrap());
            assert!(is_close(found_score, *score), "Wilson {hit}/{of}: {found_score:?}");
            assert!(is_close(found_exact, *exact), "Clopper–Pearson {hit}/{of}: {found_exact:?}");
        }
    }

    #[test]
    fn clopper_pearson_has_limits_at_the_ends() {
        assert_eq!(clopper_pearson(0, 0, 0.95), None);
        assert_eq!(clopper_pearson(20, 20, 0.95).map(|(_, high)| high), Some(1.0));
        assert_eq!(clopper_pearson(0, 20, 0.95).map(|(low, _)| low), Some(0.0));
    }

    /// Cases needed to show 96 % with a given number of misses (injection gate).
    #[test]
    fn lower_bound_needs_published_number_of_cases() {
        for (n, misses) in [(74_u32, 0_u32), (117, 1), (156, 2), (192, 3)] {
            let low = |n: u32| lower_bound(f64::from(n - misses), f64::from(n), 0.95).expect("a bound");
            assert!(low(n) >= 0.96 && low(n - 1) < 0.96, "{n} {misses}: {} {}", low(n), low(n - 1));
        }
    }

    #[test]
    fn ruled_out_failure_rate_matches_upper_bound() {
        assert_eq!(ruled_out_failure_rate(0, 0.95), None);
        assert!((ruled_out_failure_rate(1, 0.95).expect("a rate") - 0.95).abs() < 1e-12);
        assert!((ruled_out_failure_rate(30, 0.95).expect("a rate") - 0.0950).abs() < 1e-4);
        let exact = upper_bound(0.0, 30.0, 0.95).expect("a bound");
        assert!((ruled_out_failure_rate(30, 0.95).expect("a rate") - exact).abs() < 1e-9);
    }

    #[test]
    fn clopper_pearson_interval_contains_rate() {
        for of in 1..60_u64 {
            for hit in 0..=of {
                let (low, high) = clopper_pearson(hit, of, 0.95).expect("an interval");
                let rate = hit as f64 / of as f64;
                assert!((0.0..=rate).contains(&low) && (rate..=1.0).contains(&high), "{hit}/{of}: {low} {high}");
            }
        }
    }

    #[test]
    fn wilson_interval_stays_within_bounds() {
        assert_eq!(wilson(0, 0), None);
        let (low, high) = wilson(5, 5).expect("an interval");
        assert!(low > 0.5 && high <= 1.0);
        assert!(wilson(0, 5).expect("an interval").0 >= 0.0);
        for of in 1..200 {
            assert!(wilson(of, of).is_some_and(|(_, high)| high == 1.0) && wilson(0, of).is_some_and(|(low, _)| low == 0.0), "{of}");
        }
    }
}
