//! Rates estimated from traces that were kept with different probabilities.

use statrs::distribution::{ContinuousCDF, Normal};

/// Tally of one kept trace.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WeightedTally {
    pub hit: f64,
    pub of: f64,
    /// Traces that this one stands for.
    pub weight: f64,
}

/// Rate with its interval. Each tally counts with its weight, so that traces that are always kept do not bias it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WeightedRate {
    pub value: f64,
    /// Two-sided, 95 %.
    pub low: f64,
    pub high: f64,
    /// Independent observations of equal weight that the tallies are worth.
    pub effective_n: f64,
}

impl WeightedRate {
    /// Estimates the rate; absent without a tally. The variance is that of a ratio of weighted sums, and the interval is Wilson's for the
    /// number of observations with that variance.
    pub fn of(tallies: impl IntoIterator<Item = WeightedTally> + Clone) -> Option<Self> {
        let (mut hit, mut of, mut squares) = (0.0, 0.0, 0.0);
        for tally in tallies.clone() {
            hit += tally.weight * tally.hit;
            of += tally.weight * tally.of;
            squares += (tally.weight * tally.of).powi(2);
        }
        if of <= 0.0 {
            return None;
        }
        let value = (hit / of).clamp(0.0, 1.0);
        let residuals: f64 = tallies.into_iter().map(|tally| (tally.weight * (tally.hit - value * tally.of)).powi(2)).sum();
        let variance = residuals / (of * of);
        // Without a hit or without a miss the variance says nothing; then the weights alone tell.
        let by_weight = of * of / squares;
        let effective_n = if variance > 0.0 { (value * (1.0 - value) / variance).max(1.0) } else { by_weight };
        let (low, high) = wilson(value, effective_n);
        Some(Self { value, low, high, effective_n })
    }
}

fn wilson(rate: f64, n: f64) -> (f64, f64) {
    let z = Normal::standard().inverse_cdf(0.975);
    let spread = z * z / n;
    let middle = (rate + spread / 2.0) / (1.0 + spread);
    let half = z / (1.0 + spread) * (rate * (1.0 - rate) / n + spread / (4.0 * n)).sqrt();
    ((middle - half).max(0.0), (middle + half).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::super::{SampleWeight, is_sampled};
    use super::*;
    use model::{SamplingKey, SeededRng};

    /// Keeps every failure and 1 % of the rest of a population, and estimates the pass rate.
    fn estimate(seed: u64, failures_per_mille: u64) -> (f64, WeightedRate) {
        let mut rng = SeededRng::new(seed);
        let (mut kept, mut passed) = (vec![], 0.0);
        const TRACES: u64 = 50_000;
        for n in 0..TRACES {
            let good = rng.next_u64() % 1000 >= failures_per_mille;
            passed += f64::from(u8::from(good));
            let id = format!("{seed:016x}{n:016x}");
            if !good || is_sampled(&id, 0.01, &SamplingKey::none()) {
                let hit = f64::from(u8::from(good));
                kept.push(WeightedTally { hit, of: 1.0, weight: SampleWeight::of(!good, 0.01).weight() });
            }
        }
        (passed / TRACES as f64, WeightedRate::of(kept).expect("kept traces"))
    }

    #[test]
    fn failures_that_are_always_kept_do_not_bias_the_rate() {
        const SEEDS: u64 = 200;
        let mut covered = 0;
        for seed in 0..SEEDS {
            let (truth, found) = estimate(seed, 20);
            covered += u64::from(found.low <= truth && truth <= found.high);
            assert!((found.value - truth).abs() < 0.01, "{truth}: {found:?}");
        }
        #[expect(clippy::print_stdout, reason = "the figures are in the guide")]
        {
            println!("true rate within the interval: {covered} of {SEEDS}");
        }
        assert!(covered >= 186, "{covered} of {SEEDS}");
    }

    #[test]
    fn equal_weights_give_the_plain_rate() {
        let tallies: Vec<WeightedTally> =
            (0..100).map(|n| WeightedTally { hit: f64::from(u8::from(n >= 8)), of: 1.0, weight: 100.0 }).collect();
        let found = WeightedRate::of(tallies).unwrap();
        assert!((found.value - 0.92).abs() < 1e-9 && (found.effective_n - 100.0).abs() < 1e-6, "{found:?}");
        assert!((found.low - 0.850).abs() < 0.001 && (found.high - 0.959).abs() < 0.001, "{found:?}");
        assert_eq!(WeightedRate::of(vec![]), None);
    }
}
