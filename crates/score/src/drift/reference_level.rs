//! Latency or cost of traffic against those of a reference run: the shares of the run's tenths, compared like a mix.

use super::mix_monitor::{MixMonitor, MixShift};
use super::quantile_sketch::QuantileSketch;
use std::collections::BTreeMap;

/// Fewest values of a run that make a reference.
pub const MIN_REFERENCE_VALUES: usize = 30;
const PARTS: usize = 10;

/// Monitor of a quantity whose reference does not come from the traffic.
#[derive(Debug, Clone)]
pub struct ReferenceLevel {
    /// Upper ends of all parts but the last, ascending.
    edges: Vec<f64>,
    monitor: MixMonitor,
    median: f64,
    recent: QuantileSketch,
}

/// Quantity that differs from its reference.
#[derive(Debug, Clone, PartialEq)]
pub struct ReferenceShift {
    pub shift: MixShift,
    /// Medians of the reference and of the newest traces.
    pub before: f64,
    pub after: f64,
}

impl ReferenceLevel {
    /// Makes a monitor of the values of a run; none if they are too few.
    pub fn new(mut values: Vec<f64>) -> Option<Self> {
        values.retain(|value| value.is_finite());
        if values.len() < MIN_REFERENCE_VALUES {
            return None;
        }
        values.sort_by(f64::total_cmp);
        let at = |share: usize| values[(values.len() - 1) * share / PARTS];
        let mut edges: Vec<f64> = (1..PARTS).map(at).collect();
        edges.dedup();
        let median = values[values.len() / 2];
        let mut counts: BTreeMap<String, f64> = BTreeMap::new();
        for value in &values {
            *counts.entry(part_of(&edges, *value)).or_default() += 1.0;
        }
        Some(Self { edges, monitor: MixMonitor::with_reference(counts), median, recent: QuantileSketch::default() })
    }

    /// Adds a value of the traffic. Returns a shift at the end of a block that differs from the reference.
    pub fn add(&mut self, at: u64, value: f64) -> Option<ReferenceShift> {
        self.recent.add(value);
        let shift = self.monitor.add(at, &[part_of(&self.edges, value)]);
        let is_block_end = self.monitor.is_at_block_begin();
        let after = self.recent.quantile(0.5).unwrap_or(value);
        if is_block_end {
            self.recent = QuantileSketch::default();
        }
        shift.map(|shift| ReferenceShift { shift, before: std::mem::replace(&mut self.median, after), after })
    }
}

fn part_of(edges: &[f64], value: f64) -> String {
    format!("part {:02}", edges.partition_point(|edge| *edge < value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::SeededRng;

    fn values(rng: &mut SeededRng, count: usize, factor: f64) -> Vec<f64> {
        (0..count).map(|_| factor * (100.0 + rng.below(900) as f64)).collect()
    }

    #[test]
    fn traffic_that_is_slower_than_the_run_from_its_begin_is_found() {
        let mut rng = SeededRng::new(5);
        let mut slow = ReferenceLevel::new(values(&mut rng, 200, 1.0)).expect("enough values");
        let found: Vec<ReferenceShift> =
            values(&mut rng, 1_000, 1.5).into_iter().zip(0..).filter_map(|(value, at)| slow.add(at, value)).collect();
        assert_eq!(found.len(), 1, "one change gives one alarm");
        assert!(found[0].after > 1.3 * found[0].before && found[0].shift.since == 0, "{found:?}");
    }

    #[test]
    fn traffic_like_the_run_raises_nothing() {
        for seed in 0..50 {
            let mut rng = SeededRng::new(seed);
            let mut same = ReferenceLevel::new(values(&mut rng, 200, 1.0)).expect("enough values");
            let alarms = values(&mut rng, 2_000, 1.0).into_iter().zip(0..).filter(|(value, at)| same.add(*at, *value).is_some()).count();
            assert_eq!(alarms, 0, "seed {seed}");
        }
    }

    #[test]
    fn a_few_values_are_no_reference() {
        assert!(ReferenceLevel::new(vec![1.0; MIN_REFERENCE_VALUES - 1]).is_none());
        assert!(ReferenceLevel::new(vec![f64::NAN; 100]).is_none());
    }
}
