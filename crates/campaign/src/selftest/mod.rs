//! Selftest of a workspace: plays the reference and every fault, and checks that each gate can fail, for the right reason and at the
//! right dose.

mod checks;
mod dose;
mod endings;
mod judge;
mod play;
mod problem;
mod report;
mod threshold;
mod tier_bench;

pub use judge::Selftest;
pub use play::{PlayedTrials, SelftestMode, SelftestSetup, play_selftest};
pub use problem::SelftestProblem;
pub use report::{DoseCheck, FaultRow, FaultState, GateRow, SelftestReport, TrippedGate};
