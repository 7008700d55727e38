//! Alarm on a drop of a pass rate: ADWIN for its window, Page-Hinkley for slow sinks.

use super::adwin::Adwin;
use super::page_hinkley::PageHinkley;

/// Chance of a false cut at each test of ADWIN.
const DELTA: f64 = 0.000_5;
/// Settings of Page-Hinkley, chosen by the simulation in `benchmark_tests`.
const SLACK: f64 = 0.06;
const THRESHOLD: f64 = 110.0;

/// Monitor of one pass rate.
#[derive(Debug, Clone)]
pub struct RateMonitor {
    window: Adwin,
    sink: PageHinkley,
}

/// Drop of a pass rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateShift {
    /// Time of the first sample after the change, as far as it can be told.
    pub since: u64,
    pub before: f64,
    pub after: f64,
    /// Samples since the change.
    pub samples: u64,
    pub detector: &'static str,
}

impl Default for RateMonitor {
    fn default() -> Self {
        Self { window: Adwin::new(DELTA), sink: PageHinkley::new(SLACK, THRESHOLD) }
    }
}

impl RateMonitor {
    /// Adds an outcome. Returns a shift if the rate dropped; a rise only moves the reference.
    pub fn add(&mut self, at: u64, good: bool) -> Option<RateShift> {
        let cut = self.window.add(at, f64::from(u8::from(good)));
        let sink = self.sink.add(at, !good);
        let (found, detector) = match (cut, sink) {
            (Some(cut), _) if cut.after < cut.before => (cut, "adwin"),
            (Some(_), _) => {
                // The rate rose: what counts as usual is learnt again.
                self.sink = PageHinkley::new(SLACK, THRESHOLD);
                return None;
            }
            (None, Some(sink)) if sink.after < sink.before => (sink, "page-hinkley"),
            (None, Some(_) | None) => return None,
        };
        // One alarm for one change.
        *self = Self::default();
        let samples = found.samples.max(0.0) as u64;
        Some(RateShift { since: found.since, before: found.before, after: found.after, samples, detector })
    }
}
