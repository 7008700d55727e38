//! Why a subject made no move, and how the trial ends for it. What the subject caused is scored; what happened to it is not.

use model::Ending;
use model::transcript::{FaultSource, LimitKind};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SubjectFault {
    /// The subject's own doing; the trial is scored.
    #[error("the subject crashed: {0}")]
    Crashed(String),
    /// Nothing came in the time it had.
    #[error("the subject hung")]
    Hung,
    /// Something came that is no move.
    #[error("the subject made a malformed move: {0}")]
    Malformed(String),
    /// It was stopped at a limit that only it can see coming, such as tokens while a reply is written.
    #[error("the subject went over a limit: {0:?}")]
    OverLimit(LimitKind),
    /// The model's service failed; the trial is no evidence.
    #[error("the provider failed: {0}")]
    Provider(String),
    /// We failed; the trial is no evidence.
    #[error("the harness failed: {0}")]
    Harness(String),
    /// Only recordings may be played, and what the subject would be asked was never recorded.
    #[error("not recorded: {0}")]
    Unrecorded(String),
    /// The run's budget does not reach any further.
    #[error("the budget does not reach")]
    Unfunded,
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
