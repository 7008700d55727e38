//! Result of one trial for its case. `score::outcome` decides it; everything else reads it.

/// What a trial says about its case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaseOutcome {
    /// Everything the case expects was seen.
    Passed,
    /// Something the case expects was missed.
    Failed,
    /// The trial ended, but nothing was read off it or its rubric has no verdict.
    Unjudged,
    /// The trial is no evidence about the subject.
    Aborted { by: AbortCause },
}

/// Reason why a trial is no evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AbortCause {
    Provider,
    Harness,
    Simulator,
    /// Only recordings may be played, and one is missing.
    NeedsRecording,
    /// The budget of the run is used up.
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
