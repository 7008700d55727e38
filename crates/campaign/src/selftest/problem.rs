//! Problems that a selftest finds, as plain sentences.

use std::fmt;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SelftestProblem {
    /// The reference misses a gate, or leaves it undecided.
    Reference { gate: String, tier: u64, slice: String, because: String },
    /// No fault makes the gate miss.
    CannotFail { gate: String, tier: u64 },
    /// The gates that should catch the fault stay met.
    NotCaught { fault: &'static str, tier: u64, scorer: String },
    /// The fault makes a gate miss that it does not predict.
    Unpredicted { fault: &'static str, tier: u64, gate: String },
    /// A gate turns at another dose than the readings say.
    Dose { gate: String, tier: u64, fault: &'static str, dose: usize, what: String },
    /// An agent that does nothing passes the case.
    PassedByIdle { case: String, fault: &'static str },
    /// A trial that ended badly is not scored as it should be.
    Ending { fault: &'static str, case: String, what: String },
}

impl fmt::Display for SelftestProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SelftestProblem::Reference { gate, tier, slice, because } => {
                write!(f, "gate {gate} is not met by the reference in tier {tier}, {slice}: {because}")
            }
            SelftestProblem::CannotFail { gate, tier } => write!(f, "gate {gate} cannot fail in tier {tier}: no fault trips it"),
            SelftestProblem::NotCaught { fault, tier, scorer } => {
                write!(f, "fault {fault} is not caught in tier {tier}: no gate of {scorer} misses")
            }
            SelftestProblem::Unpredicted { fault, tier, gate } => {
                write!(f, "fault {fault} trips gate {gate} in tier {tier}, which it does not predict")
            }
            SelftestProblem::Dose { gate, tier, fault, dose, what } => {
                write!(f, "gate {gate} does not turn at fault {fault} in {} of tier {tier}: {what}", model::count(*dose, "case"))
            }
            SelftestProblem::PassedByIdle { case, fault } => {
                write!(f, "case {case} is passed by an agent that does nothing ({fault})")
            }
            SelftestProblem::Ending { fault, case, what } => write!(f, "fault {fault} in case {case}: {what}"),
        }
    }
}
