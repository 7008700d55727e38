//! Result of a selftest.

use super::play::SelftestMode;
use super::problem::SelftestProblem;
use model::{ScorerId, Verdict};

/// Gate of a tier and the faults that trip it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateRow {
    pub gate: String,
    pub scorer: String,
    pub tier: u64,
    pub tripped_by: Vec<&'static str>,
}

/// Fault and the gates that it trips.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FaultRow {
    pub fault: &'static str,
    pub primary: ScorerId,
    /// Cases in which it was committed.
    pub cases: usize,
    pub state: FaultState,
    pub tripped: Vec<TrippedGate>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultState {
    Caught,
    NotCaught,
    /// It occurs in too few cases to break the tolerance of the gates that read it.
    WithinTolerance,
    /// No case in which it is possible, or no gate that reads it.
    NotMeasured,
}

/// Gate that a fault trips.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrippedGate {
    pub gate: String,
    pub tier: u64,
    pub verdict: Verdict,
}

/// Smallest dose of a fault at which a gate is no longer met.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DoseCheck {
    pub gate: String,
    pub tier: u64,
    pub fault: &'static str,
    pub dose: usize,
    /// Verdict with the fault in one case less.
    pub below: Verdict,
    pub at: Verdict,
    /// Verdict at the dose, computed from the readings.
    pub computed: Verdict,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelftestReport {
    pub mode: SelftestMode,
    /// Trials that were played.
    pub trials: usize,
    /// Gates by tier, in the order of the file.
    pub gates: Vec<GateRow>,
    pub faults: Vec<FaultRow>,
    pub doses: Vec<DoseCheck>,
    pub problems: Vec<SelftestProblem>,
}
