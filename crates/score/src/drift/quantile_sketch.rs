//! Quantiles of latencies and costs within a relative error, in bounded memory (DDSketch; Masson, Rim and Lee, 2019).

use std::collections::BTreeMap;

/// Relative error of a quantile.
const ACCURACY: f64 = 0.01;
/// Most buckets; the lowest are joined beyond.
const MAX_BUCKETS: usize = 2048;

/// Sketch of positive values. Sketches of parts can be merged.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct QuantileSketch {
    buckets: BTreeMap<i32, f64>,
    /// Weight of values that are zero or below.
    zeros: f64,
    weight: f64,
}

impl QuantileSketch {
    pub fn add(&mut self, value: f64) {
        self.add_weighted(value, 1.0);
    }

    /// Adds a value that stands for `weight` values. Values that are not finite are left out.
    pub fn add_weighted(&mut self, value: f64, weight: f64) {
        if !value.is_finite() || weight <= 0.0 {
            return;
        }
        self.weight += weight;
        if value <= 0.0 {
            self.zeros += weight;
            return;
        }
        let bucket = (value.ln() / gamma().ln()).ceil().clamp(-100_000.0, 100_000.0) as i32;
        *self.buckets.entry(bucket).or_default() += weight;
        if self.buckets.len() > MAX_BUCKETS
            && let Some((_, lowest)) = self.buckets.pop_first()
            && let Some(mut next) = self.buckets.first_entry()
        {
            *next.get_mut() += lowest;
        }
    }

    pub fn merge(&mut self, other: &Self) {
        for (bucket, weight) in &other.buckets {
            *self.buckets.entry(*bucket).or_default() += weight;
        }
        self.zeros += other.zeros;
        self.weight += other.weight;
    }

    pub fn weight(&self) -> f64 {
        self.weight
    }

    /// Returns the value below which a share of the weight lies; absent without values.
    pub fn quantile(&self, share: f64) -> Option<f64> {
        if self.weight <= 0.0 {
            return None;
        }
        let rank = share.clamp(0.0, 1.0) * self.weight;
        let mut below = self.zeros;
        if below >= rank && self.zeros > 0.0 {
            return Some(0.0);
        }
        for (bucket, weight) in &self.buckets {
            below += weight;
            if below >= rank {
                return Some(2.0 * gamma().powi(*bucket) / (gamma() + 1.0));
            }
        }
        self.buckets.last_key_value().map(|(bucket, _)| 2.0 * gamma().powi(*bucket) / (gamma() + 1.0))
    }
}

fn gamma() -> f64 {
    (1.0 + ACCURACY) / (1.0 - ACCURACY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_within_the_relative_error() {
        let (mut whole, mut left, mut right) = (QuantileSketch::default(), QuantileSketch::default(), QuantileSketch::default());
        for n in 1..=10_000 {
            whole.add(f64::from(n));
            if n % 2 == 0 { left.add(f64::from(n)) } else { right.add(f64::from(n)) }
        }
        left.merge(&right);
        assert_eq!(left, whole);
        for (share, exact) in [(0.5, 5_000.0), (0.95, 9_500.0), (0.99, 9_900.0), (1.0, 10_000.0)] {
            let found = whole.quantile(share).unwrap();
            assert!((found / exact - 1.0).abs() <= 0.0101, "{share}: {found}");
        }
        assert_eq!(QuantileSketch::default().quantile(0.5), None);
    }

    #[test]
    fn odd_values_do_no_harm() {
        let mut sketch = QuantileSketch::default();
        for value in [f64::NAN, f64::INFINITY, -1.0, 0.0, f64::MIN_POSITIVE, f64::MAX] {
            sketch.add(value);
        }
        assert_eq!((sketch.weight(), sketch.quantile(0.25)), (4.0, Some(0.0)));
    }
}
