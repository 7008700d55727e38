//! Outcome of a trial. Computed by `score::outcome`; all other code reads it.

/// Outcome of a trial for its case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaseOutcome {
    /// All expectations of the case were met.
    Passed,
    /// At least one expectation was missed.
    Failed,
    /// The trial ended, but no scorer has a reading or the rubric has no verdict.
    Unjudged,
    /// The trial says nothing about the subject.
    Aborted { by: AbortCause },
}

/// Cause of an aborted trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AbortCause {
    Provider,
    Harness,
    Simulator,
    /// A recording is missing in replay mode.
    NeedsRecording,
    /// The budget of the run is exhausted.
    Unfunded,
    /// The run ended before the trial did.
    Interrupted,
}

impl CaseOutcome {
    pub fn is_aborted(self) -> bool {
        match self {
            CaseOutcome::Aborted { .. } => true,
            CaseOutcome::Passed | CaseOutcome::Failed | CaseOutcome::Unjudged => false,
        }
    }
}
