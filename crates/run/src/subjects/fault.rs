//! Faults of a subject and the trial endings they map to. Faults the subject caused are scored, external ones are not.

use model::Ending;
use model::transcript::{FaultSource, LimitKind};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SubjectFault {
    /// Crash of the subject. The trial is scored.
    #[error("the subject crashed: {0}")]
    Crashed(String),
    /// No move within the time limit.
    #[error("the subject did not respond")]
    Hung,
    /// Output that is not a valid move.
    #[error("the subject made a malformed move: {0}")]
    Malformed(String),
    /// Limit that the subject detects itself, such as tokens during a reply.
    #[error("the subject exceeded a limit: {0:?}")]
    OverLimit(LimitKind),
    /// LLM provider failed. The trial is not scored.
    #[error("the provider failed: {0}")]
    Provider(String),
    /// Harness failed. The trial is not scored.
    #[error("the harness failed: {0}")]
    Harness(String),
    /// Replay mode, and the request has no recording.
    #[error("not recorded: {0}")]
    Unrecorded(String),
    /// Budget of the run cannot cover the call.
    #[error("the budget is exhausted")]
    Unfunded,
}

impl SubjectFault {
    /// Changes the text of a fault.
    #[must_use]
    pub(crate) fn map_text(self, change: impl FnOnce(String) -> String) -> Self {
        match self {
            SubjectFault::Crashed(why) => SubjectFault::Crashed(change(why)),
            SubjectFault::Malformed(why) => SubjectFault::Malformed(change(why)),
            SubjectFault::Provider(why) => SubjectFault::Provider(change(why)),
            SubjectFault::Harness(why) => SubjectFault::Harness(change(why)),
            SubjectFault::Unrecorded(why) => SubjectFault::Unrecorded(change(why)),
            SubjectFault::Hung | SubjectFault::OverLimit(_) | SubjectFault::Unfunded => self,
        }
    }
}

impl From<SubjectFault> for Ending {
    fn from(fault: SubjectFault) -> Self {
        match fault {
            SubjectFault::Crashed(why) => Ending::Crashed { why },
            SubjectFault::Hung => Ending::Hung,
            SubjectFault::Malformed(why) => Ending::MalformedMove { why },
            SubjectFault::OverLimit(limit) => Ending::OverLimit { limit },
            SubjectFault::Provider(why) => Ending::Aborted { by: FaultSource::Provider, why },
            SubjectFault::Harness(why) => Ending::Aborted { by: FaultSource::Harness, why },
            SubjectFault::Unrecorded(why) => Ending::Aborted { by: FaultSource::Recordings, why },
            SubjectFault::Unfunded => Ending::Unfunded,
        }
    }
}
