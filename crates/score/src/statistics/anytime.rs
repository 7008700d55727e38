//! Bound on a rate that holds at every moment of a run, so that a run may stop when it has seen enough.
//! Reasons: `docs/decisions/0038-clustered-and-anytime-intervals.md`.

use statrs::function::beta::ln_beta;

/// Sum and number of observations between 0 and 1, in the order they were made.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct AnytimeRate {
    sum: f64,
    n: f64,
}

impl AnytimeRate {
    /// Returns the state after these observations, one per case.
    pub fn new(sum: f64, n: f64) -> Self {
        Self { sum, n }
    }

    pub fn add(&mut self, observation: f64) {
        self.sum += observation.clamp(0.0, 1.0);
        self.n += 1.0;
    }

    pub fn rate(&self) -> Option<f64> {
        (self.n > 0.0).then(|| self.sum / self.n)
    }

    /// Returns whether the true rate differs from `rate`, at this confidence and however often it is asked.
    ///
    /// The likelihood of all rates, evenly mixed, over that of `rate` is a supermartingale if `rate` is true. It exceeds 1/α at any
    /// moment with a probability of at most α (Ville). This also holds for observations between 0 and 1.
    pub fn excludes(&self, rate: f64, confidence: f64) -> bool {
        let misses = self.n - self.sum;
        if self.n <= 0.0 {
            return false;
        }
        if (rate <= 0.0 && self.sum > 0.0) || (rate >= 1.0 && misses > 0.0) {
            return true;
        }
        let term = |count: f64, chance: f64| if count > 0.0 { count * chance.ln() } else { 0.0 };
        let mixed = ln_beta(self.sum + 1.0, misses + 1.0);
        mixed - term(self.sum, rate) - term(misses, 1.0 - rate) >= -(1.0 - confidence).ln()
    }

    /// Returns the rates that are not excluded; all of them before the first observation.
    pub fn interval(&self, confidence: f64) -> (f64, f64) {
        let Some(rate) = self.rate() else { return (0.0, 1.0) };
        // Evidence grows with the distance from the observed rate, so that bisection finds the limit.
        let limit = |mut outside: f64| {
            if !self.excludes(outside, confidence) {
                return outside;
            }
            let mut inside = rate;
            for _ in 0..60 {
                let middle = f64::midpoint(inside, outside);
                if self.excludes(middle, confidence) { outside = middle } else { inside = middle }
            }
            outside
        };
        (limit(0.0), limit(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interval_contains_the_rate_and_narrows() {
        let mut last = 1.0;
        for n in [5.0, 20.0, 100.0, 1000.0] {
            let (low, high) = AnytimeRate::new(0.8 * n, n).interval(0.95);
            assert!(low < 0.8 && high > 0.8 && high - low < last, "{n}: {low} {high}");
            last = high - low;
        }
        assert_eq!(AnytimeRate::default().interval(0.95), (0.0, 1.0));
    }

    #[test]
    fn excludes_agrees_with_the_interval() {
        let state = AnytimeRate::new(57.0, 60.0);
        let (low, high) = state.interval(0.95);
        for rate in [0.0, 0.5, low - 0.001, low + 0.001, 0.95, high - 0.001, 1.0] {
            assert_eq!(state.excludes(rate, 0.95), rate < low || rate > high, "{rate} {low} {high}");
        }
        assert!(!AnytimeRate::new(10.0, 10.0).excludes(1.0, 0.95) && AnytimeRate::new(10.0, 10.0).excludes(0.5, 0.95));
    }

    /// Bernoulli observations: ten hits of ten exclude rates r with r^10 below 0.05 / 11.
    #[test]
    fn clean_run_excludes_the_rate_of_the_formula() {
        let limit = (0.05_f64 / 11.0).powf(0.1);
        let (low, _) = AnytimeRate::new(10.0, 10.0).interval(0.95);
        assert!((low - limit).abs() < 1e-9, "{low} {limit}");
    }

    #[test]
    fn rates_of_nothing_and_of_everything_are_kept_until_they_are_refuted() {
        let (none, all) = (AnytimeRate::new(0.0, 40.0), AnytimeRate::new(40.0, 40.0));
        assert!(!none.excludes(0.0, 0.95) && none.excludes(1.0, 0.95));
        assert!(!all.excludes(1.0, 0.95) && all.excludes(0.0, 0.95));
        assert!(AnytimeRate::new(1.0, 40.0).excludes(0.0, 0.95) && AnytimeRate::new(39.0, 40.0).excludes(1.0, 0.95));
    }
}
