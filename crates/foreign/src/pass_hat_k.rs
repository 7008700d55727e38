//! pass^k: the chance that k recordings of a case, drawn without replacement, are all good; averaged over cases.

/// Recordings of one case.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CaseTrials {
    pub good: u64,
    pub all: u64,
}

/// Returns pass^k as mean of C(good, k) / C(all, k); absent if a case has fewer than k recordings or there is none.
pub fn pass_hat_k(cases: impl IntoIterator<Item = CaseTrials>, k: u64) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0_u32);
    for case in cases {
        if k == 0 || case.all < k {
            return None;
        }
        sum += share_of_draws(case, k);
        count += 1;
    }
    (count > 0).then(|| sum / f64::from(count))
}

/// C(good, k) / C(all, k) as a product, which stays between 0 and 1 where the binomials would overflow.
fn share_of_draws(case: CaseTrials, k: u64) -> f64 {
    if case.good < k {
        return 0.0;
    }
    (0..k).map(|drawn| (case.good - drawn) as f64 / (case.all - drawn) as f64).product()
}

#[cfg(test)]
mod tests {
    use super::{CaseTrials, pass_hat_k};

    #[test]
    fn pass_hat_k_has_known_values() {
        let trials = |good, all| CaseTrials { good, all };
        // C(3,2)/C(4,2) = 3/6 and C(4,2)/C(4,2) = 1.
        assert_eq!(pass_hat_k([trials(3, 4), trials(4, 4)], 2), Some(0.75));
        assert_eq!(pass_hat_k([trials(3, 4), trials(4, 4)], 1), Some(0.875));
        assert_eq!(pass_hat_k([trials(3, 4), trials(1, 4)], 4), Some(0.0));
        assert_eq!(pass_hat_k([trials(1, 1), trials(4, 4)], 2), None);
        assert_eq!(pass_hat_k([], 1), None);
        let many = pass_hat_k([trials(900_000, 1_000_000)], 100).unwrap();
        assert!((many - 0.9_f64.powi(100)).abs() < 1e-6, "{many}");
    }
}
