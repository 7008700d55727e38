//! pass@k and pass^k: at least one, or all, of k trials of a case pass.

/// Trials of one case.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct CaseTrials {
    pub passed: u64,
    pub trials: u64,
}

impl CaseTrials {
    /// Returns the chance that `k` of these trials, drawn without replacement, all passed: C(passed, k) / C(trials, k).
    /// `None` if there are fewer than `k` trials.
    pub fn all_pass(self, k: u64) -> Option<f64> {
        share_of_draws(self.passed, self.trials, k)
    }

    /// Returns the chance that one of `k` of these trials passed.
    pub fn any_pass(self, k: u64) -> Option<f64> {
        share_of_draws(self.trials - self.passed.min(self.trials), self.trials, k).map(|none| 1.0 - none)
    }
}

fn share_of_draws(of_kind: u64, all: u64, k: u64) -> Option<f64> {
    if k == 0 || k > all {
        return None;
    }
    if of_kind < k {
        return Some(0.0);
    }
    Some((0..k).map(|drawn| (of_kind - drawn) as f64 / (all - drawn) as f64).product())
}

/// Returns the mean chance that all of `k` trials of a case pass. Cases with fewer trials do not count.
pub fn pass_hat_k(cases: &[CaseTrials], k: u64) -> Option<f64> {
    mean(cases.iter().filter_map(|case| case.all_pass(k)))
}

/// Returns the mean chance that at least one of `k` trials of a case passes. Cases with fewer trials do not count.
pub fn pass_at_k(cases: &[CaseTrials], k: u64) -> Option<f64> {
    mean(cases.iter().filter_map(|case| case.any_pass(k)))
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0_u32);
    for value in values {
        sum += value;
        count += 1;
    }
    (count > 0).then(|| sum / f64::from(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(passed: u64, trials: u64) -> CaseTrials {
        CaseTrials { passed, trials }
    }

    #[test]
    fn pass_k_is_the_mean_of_binomial_shares() {
        // C(3, 2) / C(4, 2) = 3 / 6, C(4, 2) / C(4, 2) = 1, C(1, 2) = 0.
        let cases = [case(3, 4), case(4, 4), case(1, 4)];
        for (k, all, any) in [(1, 8.0 / 12.0, 8.0 / 12.0), (2, 1.5 / 3.0, 2.5 / 3.0), (3, 1.25 / 3.0, 2.75 / 3.0), (4, 1.0 / 3.0, 1.0)] {
            assert!((pass_hat_k(&cases, k).unwrap() - all).abs() < 1e-12, "pass^{k}");
            assert!((pass_at_k(&cases, k).unwrap() - any).abs() < 1e-12, "pass@{k}");
        }
    }

    #[test]
    fn cases_with_too_few_trials_do_not_count() {
        assert_eq!(pass_hat_k(&[case(2, 2), case(0, 1)], 2), Some(1.0));
        assert_eq!((pass_hat_k(&[case(1, 1)], 2), pass_at_k(&[], 1), pass_hat_k(&[case(1, 1)], 0)), (None, None, None));
    }
}
