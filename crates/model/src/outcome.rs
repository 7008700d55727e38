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

impl AbortCause {
    /// Returns whether a resumed run runs the trial again. Without a recording it would end the same way.
    pub fn is_run_again(self) -> bool {
        match self {
            AbortCause::Provider | AbortCause::Harness | AbortCause::Simulator | AbortCause::Unfunded | AbortCause::Interrupted => true,
            AbortCause::NeedsRecording => false,
        }
    }
}

impl CaseOutcome {
    pub fn is_aborted(self) -> bool {
        match self {
            CaseOutcome::Aborted { .. } => true,
            CaseOutcome::Passed | CaseOutcome::Failed | CaseOutcome::Unjudged => false,
        }
    }
}
