//! How sure a rate is.

/// The two-sided 95 % quantile of the normal distribution.
const Z: f64 = 1.959_963_984_540_054;

/// Wilson score interval of a rate; `None` when nothing was measured.
pub fn wilson(hit: u64, of: u64) -> Option<(f64, f64)> {
    if of == 0 {
        return None;
    }
    let (hit, of) = (hit as f64, of as f64);
    let rate = hit / of;
    let spread = Z * Z / of;
    let middle = (rate + spread / 2.0) / (1.0 + spread);
    let half = Z * (rate * (1.0 - rate) / of + spread / (4.0 * of)).sqrt() / (1.0 + spread);
    // Rounding must not leave the rate outside of its own interval.
    Some(((middle - half).clamp(0.0, rate), (middle + half).clamp(rate, 1.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_the_published_figure_and_stays_within_bounds() {
        let (low, high) = wilson(17, 20).expect("an interval");
        assert!((low - 0.6396).abs() < 1e-4 && (high - 0.9476).abs() < 1e-4, "{low} {high}");
        assert_eq!(wilson(0, 0), None);
        let (low, high) = wilson(5, 5).expect("an interval");
        assert!(low > 0.5 && high <= 1.0);
        assert!(wilson(0, 5).expect("an interval").0 >= 0.0);
        for of in 1..200 {
            assert!(wilson(of, of).is_some_and(|(_, high)| high == 1.0) && wilson(0, of).is_some_and(|(low, _)| low == 0.0), "{of}");
        }
    }
}
