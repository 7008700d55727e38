//! Alarm on a rise of latency, cost or tokens.

use super::quantile_sketch::QuantileSketch;
use super::rate_monitor::RateMonitor;

/// Values that make the reference.
const REFERENCE: f64 = 500.0;

/// Monitor of a positive quantity. After the reference, the shares of values above its median and above its p95 are watched.
#[derive(Debug, Clone, Default)]
pub struct LevelMonitor {
    reference: QuantileSketch,
    recent: QuantileSketch,
    middle: RateMonitor,
    tail: RateMonitor,
}

/// Rise of a quantity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LevelShift {
    pub since: u64,
    /// Quantile that moved, 0.5 or 0.95.
    pub quantile: f64,
    pub before: f64,
    pub after: f64,
    pub samples: u64,
    pub detector: &'static str,
}

impl LevelMonitor {
    /// Adds a value. Returns a shift if large values became more frequent.
    pub fn add(&mut self, at: u64, value: f64) -> Option<LevelShift> {
        if self.reference.weight() < REFERENCE {
            self.reference.add(value);
            return None;
        }
        self.recent.add(value);
        if self.recent.weight() >= 2.0 * REFERENCE {
            self.recent = QuantileSketch::default();
            self.recent.add(value);
        }
        let (middle, high) = (self.reference.quantile(0.5)?, self.reference.quantile(0.95)?);
        let middle = self.middle.add(at, value <= middle).map(|shift| (0.5, shift));
        let tail = self.tail.add(at, value <= high).map(|shift| (0.95, shift));
        let (quantile, shift) = middle.or(tail)?;
        let (before, after) = (self.reference.quantile(quantile)?, self.recent.quantile(quantile)?);
        *self = Self::default();
        Some(LevelShift { since: shift.since, quantile, before, after, samples: shift.samples, detector: shift.detector })
    }
}
