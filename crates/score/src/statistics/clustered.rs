//! Rate of readings that repeat within cases. Trials of one case are alike, so cases are clusters and the interval counts effective
//! observations. Reasons: `docs/decisions/0038-clustered-and-anytime-intervals.md`.

use super::interval::{Z, clopper_pearson_of_rate, wilson_of_rate};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Readings of one case: hits out of a total.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CaseTally {
    pub hit: f64,
    pub of: f64,
}

/// Pooled rate with the number of independent observations that it is worth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClusteredRate {
    pub rate: f64,
    /// Sum of the totals.
    pub n: f64,
    /// Equals `n` if every case was read once.
    pub effective_n: f64,
}

impl ClusteredRate {
    /// Pools the readings of cases; `None` if nothing was measured. Independent of their order.
    pub fn of(cases: impl IntoIterator<Item = CaseTally>) -> Option<Self> {
        let mut cases: Vec<CaseTally> = cases.into_iter().filter(|case| case.of > 0.0).collect();
        // Float sums depend on their order.
        cases.sort_by(|a, b| a.of.total_cmp(&b.of).then(a.hit.total_cmp(&b.hit)));
        let n: f64 = cases.iter().map(|case| case.of).sum();
        if cases.is_empty() {
            return None;
        }
        let rate = cases.iter().map(|case| case.hit).sum::<f64>() / n;
        let effective_n = if cases.iter().all(|case| case.of <= 1.0) { n } else { effective_count(&cases, n) };
        Some(Self { rate, n, effective_n })
    }

    /// Returns whether readings repeat, so that fewer observations count than were made.
    pub fn is_clustered(&self) -> bool {
        self.effective_n < self.n
    }

    /// Returns the 95 % interval: Wilson's, or the exact one over the effective observations where readings repeat. Their number is an
    /// estimate, and Wilson's interval would be too narrow for it near 100 %.
    pub fn interval(&self) -> (f64, f64) {
        let exact = if self.is_clustered() { self.exact(0.95) } else { None };
        exact.unwrap_or_else(|| wilson_of_rate(self.rate, self.effective_n))
    }

    /// Returns the Clopper–Pearson interval over the effective observations, as Korn and Graubard do for surveys.
    pub fn exact(&self, confidence: f64) -> Option<(f64, f64)> {
        clopper_pearson_of_rate(self.rate * self.effective_n, self.effective_n, confidence)
    }
}

/// Returns the number of independent observations with the variance of these cases, reduced for the few cases it was estimated from.
/// Readings of a case can at most be all alike, so that there are never fewer than cases, weighted by their size (Kish).
fn effective_count(cases: &[CaseTally], n: f64) -> f64 {
    let count = cases.len() as f64;
    let least = n * n / cases.iter().map(|case| case.of * case.of).sum::<f64>();
    let Ok(student) = StudentsT::new(0.0, 1.0, count - 1.0) else { return least };
    let few_cases = (Z / student.inverse_cdf(0.975)).powi(2);
    (n / design_effect(cases, n / count) * few_cases).clamp(least, n)
}

/// Returns how many times the variance between cases exceeds that of independent readings. Two cases are added, one that always misses
/// and one that always hits: near 0 % and 100 % the few cases with a miss say too little about how misses cluster.
fn design_effect(cases: &[CaseTally], size: f64) -> f64 {
    let added = [CaseTally { hit: 0.0, of: size }, CaseTally { hit: size, of: size }];
    let all = || cases.iter().chain(&added);
    let n: f64 = all().map(|case| case.of).sum();
    let rate = all().map(|case| case.hit).sum::<f64>() / n;
    let count = (cases.len() + added.len()) as f64;
    let spread: f64 = all().map(|case| (case.hit - rate * case.of).powi(2)).sum();
    count / (count - 1.0) * spread / n / (rate * (1.0 - rate))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cases(rows: &[(f64, f64, usize)]) -> Vec<CaseTally> {
        rows.iter().flat_map(|(hit, of, count)| std::iter::repeat_n(CaseTally { hit: *hit, of: *of }, *count)).collect()
    }

    #[test]
    fn single_trials_have_the_usual_interval() {
        let rate = ClusteredRate::of(cases(&[(1.0, 1.0, 17), (0.0, 1.0, 3)])).unwrap();
        assert_eq!(Some(rate.interval()), super::super::wilson(17, 20));
        assert_eq!(rate.exact(0.95), super::super::clopper_pearson(17, 20, 0.95));
        assert!(!rate.is_clustered());
        assert_eq!(ClusteredRate::of(cases(&[])), None);
        assert_eq!(ClusteredRate::of(cases(&[(0.0, 0.0, 3)])), None);
    }

    /// 50 cases with four trials each and 84 hits, like a published set whose pooled interval is 0.354 to 0.489.
    #[test]
    fn repeated_trials_widen_the_interval() {
        let mixed = cases(&[(0.0, 4.0, 20), (1.0, 4.0, 4), (2.0, 4.0, 7), (3.0, 4.0, 6), (4.0, 4.0, 12), (0.0, 4.0, 1)]);
        let rate = ClusteredRate::of(mixed).unwrap();
        assert_eq!((rate.rate, rate.n), (0.42, 200.0));
        let (pooled, (low, high)) = (super::super::wilson(84, 200).unwrap(), rate.interval());
        assert!((pooled.0 - 0.354).abs() < 1e-3 && (pooled.1 - 0.489).abs() < 1e-3, "{pooled:?}");
        assert!(low < 0.33 && high > 0.51 && high - low < 0.26, "{low} {high}");
        assert!((50.0..90.0).contains(&rate.effective_n), "{}", rate.effective_n);
    }

    #[test]
    fn cases_that_never_vary_count_once() {
        let rate = ClusteredRate::of(cases(&[(8.0, 8.0, 30), (0.0, 8.0, 10)])).unwrap();
        assert!(rate.effective_n <= 40.0 && rate.effective_n > 30.0, "{}", rate.effective_n);
        let all_hit = ClusteredRate::of(cases(&[(8.0, 8.0, 40)])).unwrap();
        assert!(all_hit.rate == 1.0 && all_hit.effective_n < 60.0, "{}", all_hit.effective_n);
        let one = ClusteredRate::of(cases(&[(7.0, 8.0, 1)])).unwrap();
        assert_eq!(one.effective_n, 1.0, "one case says nothing about others");
    }

    #[test]
    fn one_large_case_does_not_count_as_many() {
        let even = ClusteredRate::of(cases(&[(1.0, 2.0, 20)])).unwrap();
        let uneven = ClusteredRate::of(cases(&[(1.0, 2.0, 19), (81.0, 100.0, 1)])).unwrap();
        assert!(uneven.effective_n < even.effective_n, "{} {}", uneven.effective_n, even.effective_n);
    }

    #[test]
    fn order_of_cases_does_not_matter() {
        let mut mixed = cases(&[(1.0, 3.0, 7), (2.0, 3.0, 5), (0.0, 7.0, 2), (1.0, 1.0, 3)]);
        let forward = ClusteredRate::of(mixed.clone());
        mixed.reverse();
        assert_eq!(forward, ClusteredRate::of(mixed));
    }

    /// Two cases of two readings, one hit and one miss each, and the two that are added: (4/3) · 2 / 8 / 0.25.
    #[test]
    fn design_effect_is_that_of_the_formula() {
        let effect = design_effect(&cases(&[(1.0, 2.0, 2)]), 2.0);
        assert!((effect - 4.0 / 3.0).abs() < 1e-12, "{effect}");
    }
}
