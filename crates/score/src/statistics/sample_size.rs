//! Number of cases that a gate needs to tell a good subject from a bad one.

use super::interval::clopper_pearson_of_rate;
use std::fmt;

/// Distance below a bound that should be noticed, and the share of the room above it.
const BELOW: f64 = 0.15;
const ABOVE: f64 = 2.0 / 3.0;
/// More cases are not advised.
const MAX_CASES: u32 = 100_000;

/// Too few cases for a bound: rates that cannot be told apart, and the number of cases that can.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SampleAdvice {
    pub cases: usize,
    pub bound: f64,
    pub low: f64,
    pub high: f64,
    pub needed: usize,
}

impl SampleAdvice {
    /// Returns advice if, at a rate equal to the bound, the exact 95 % interval of this many cases holds a rate well below and one well
    /// above it. `None` if there are enough cases, or if the bound is 0 or 1.
    pub fn for_bound(bound: f64, cases: usize) -> Option<Self> {
        if bound <= 0.0 || bound >= 1.0 {
            return None;
        }
        // A bound on misses is the mirror image of one on hits.
        let (low, high) = if bound >= 0.5 {
            ((bound - BELOW).max(0.0), bound + (1.0 - bound) * ABOVE)
        } else {
            (bound * (1.0 - ABOVE), (bound + BELOW).min(1.0))
        };
        let is_enough = |n: u32| {
            let n = f64::from(n);
            clopper_pearson_of_rate(bound * n, n, 0.95).is_some_and(|(least, most)| least > low && most < high)
        };
        // Both limits move towards the bound with every case, so that bisection finds the number.
        let (mut few, mut enough) = (0, MAX_CASES);
        while enough - few > 1 {
            let middle = u32::midpoint(few, enough);
            if is_enough(middle) { enough = middle } else { few = middle }
        }
        let needed = usize::try_from(enough).unwrap_or(usize::MAX);
        (cases < needed).then_some(Self { cases, bound, low, high, needed })
    }
}

impl fmt::Display for SampleAdvice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cases, bound, low, high, needed } = self;
        let percent = |rate: f64| format!("{:.0} %", rate * 100.0);
        let cases = model::count(*cases, "case");
        write!(f, "{cases} at {} cannot tell {} from {}; {needed} would", percent(*bound), percent(*low), percent(*high))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_names_rates_and_the_number_needed() {
        let advice = SampleAdvice::for_bound(0.85, 8).unwrap();
        let text = advice.to_string();
        assert!(text.starts_with("8 cases at 85 % cannot tell 70 % from 95 %; "), "{text}");
        assert!((40..=60).contains(&advice.needed), "{text}");
        assert_eq!(SampleAdvice::for_bound(0.85, advice.needed), None);
    }

    #[test]
    fn needed_cases_exclude_both_rates() {
        for bound in [0.1, 0.2, 0.5, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98] {
            let SampleAdvice { low, high, needed, .. } = SampleAdvice::for_bound(bound, 1).unwrap();
            let n = needed as f64;
            let (least, most) = clopper_pearson_of_rate(bound * n, n, 0.95).unwrap();
            assert!(least > low && most < high, "{bound}: {needed}");
        }
        for bound in [0.0, 1.0] {
            assert_eq!(SampleAdvice::for_bound(bound, 1), None);
        }
    }
}
