//! Exact test of paired cases, and its correction for many tests.

use statrs::function::factorial::ln_binomial;

/// Returns the two-sided p-value of McNemar's exact test: of `better + worse` changed cases, as many as this would change in one direction
/// if both were equally likely. Cases with several trials count by the sign of the change of their rate.
pub fn mcnemar_exact(better: u64, worse: u64) -> f64 {
    let (changed, fewer) = (better + worse, better.min(worse));
    let ln_all = changed as f64 * std::f64::consts::LN_2;
    let tail: f64 = (0..=fewer).map(|n| (ln_binomial(changed, n) - ln_all).exp()).sum();
    (2.0 * tail).min(1.0)
}

/// Returns p-values adjusted by Holm: those below α are significant at a family-wise error of α.
pub fn holm_adjusted(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|a, b| p_values[*a].total_cmp(&p_values[*b]));
    let mut adjusted = vec![1.0; p_values.len()];
    let mut largest: f64 = 0.0;
    for (rank, at) in order.into_iter().enumerate() {
        largest = largest.max(p_values[at] * (p_values.len() - rank) as f64).min(1.0);
        adjusted[at] = largest;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mcnemar_matches_exact_tables() {
        for (better, worse, expected) in
            [(0, 0, 1.0), (1, 1, 1.0), (0, 5, 0.0625), (0, 6, 0.03125), (1, 8, 0.0390625), (2, 8, 0.109375), (5, 15, 0.041389465332)]
        {
            let (found, mirrored) = (mcnemar_exact(better, worse), mcnemar_exact(worse, better));
            assert!((found - expected).abs() < 1e-9 && (found - mirrored).abs() < 1e-12, "{better} {worse}: {found}");
        }
        assert!(mcnemar_exact(1000, 1200) < 1e-4 && mcnemar_exact(100_000, 100_000) > 0.99);
    }

    #[test]
    fn holm_matches_a_worked_example() {
        let adjusted = holm_adjusted(&[0.01, 0.04, 0.03, 0.005]);
        for (found, expected) in adjusted.iter().zip([0.03, 0.06, 0.06, 0.02]) {
            assert!((found - expected).abs() < 1e-12, "{adjusted:?}");
        }
        assert_eq!(holm_adjusted(&[0.6, 0.7]), [1.0, 1.0]);
        assert!(holm_adjusted(&[]).is_empty());
    }
}
