//! Comparison of two runs, paired by case: per gate and slice, and case by case with the causes of what changed.

mod change_verdict;
mod comparison;
mod flips;
mod run_side;
mod side_case;
mod side_readings;
#[cfg(test)]
mod tests;

pub use change_verdict::{ChangeVerdict, PairCounts, RunNoise};
pub use comparison::{PairedSlice, RunComparison, compare_readings, compare_sides};
pub use flips::{FlipDirection, FlipGroup, FlippedCase};
pub use run_side::{RunSide, SideTrial};
pub use side_case::SideCase;
pub use side_readings::SideReadings;
