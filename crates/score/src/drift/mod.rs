//! Detectors of change in a stream of production traces. All are pure folds over samples in the order in which they arrive, so that a replay
//! gives the same alarms.

mod adwin;
#[cfg(test)]
mod benchmark_tests;
mod board;
mod level_monitor;
mod mix_monitor;
mod page_hinkley;
mod quantile_sketch;
mod rate_monitor;
mod reference_level;
mod stability_index;

pub use adwin::{Adwin, WindowCut};
pub use board::{DriftAlarm, DriftBoard, DriftSample, DriftSignal, SliceShift};
pub use level_monitor::{LevelMonitor, LevelShift};
pub use mix_monitor::{MixMonitor, MixShift};
pub use page_hinkley::PageHinkley;
pub use quantile_sketch::QuantileSketch;
pub use rate_monitor::{RateMonitor, RateShift};
pub use reference_level::{MIN_REFERENCE_VALUES, ReferenceLevel, ReferenceShift};
pub use stability_index::{StabilityIndex, stability_index};
