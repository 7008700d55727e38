//! Endings of trials. Endings caused by the subject are scored, all others are not.

use serde::{Deserialize, Serialize};
use std::fmt;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "ending", deny_unknown_fields)]
pub enum Ending {
    Finished,
    Refused,
    GaveUp,
    Crashed { why: String },
    Hung,
    MalformedMove { why: String },
    OverLimit { limit: LimitKind },
    Aborted { by: FaultSource, why: String },
    Unfunded,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitKind {
    Turns,
    Calls,
    Tokens,
    Time,
    Depth,
    /// Bytes of all moves of a trial, or of the output of an external agent.
    Output,
}

/// Component that caused an aborted trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultSource {
    Provider,
    Harness,
    Simulator,
    /// Replay mode without a recording for the request.
    Recordings,
}

impl Ending {
    /// Returns the kind of a disorderly ending that the subject caused, in a word or two.
    pub fn fault_kind(&self) -> Option<&'static str> {
        match self {
            Ending::Finished | Ending::Refused | Ending::GaveUp | Ending::Aborted { .. } | Ending::Unfunded => None,
            Ending::Crashed { .. } => Some("crashed"),
            Ending::Hung => Some("hung"),
            Ending::MalformedMove { .. } => Some("malformed move"),
            Ending::OverLimit { limit } => Some(match limit {
                LimitKind::Turns => "over the limit of turns",
                LimitKind::Calls => "over the limit of calls",
                LimitKind::Tokens => "over the limit of tokens",
                LimitKind::Time => "over the limit of time",
                LimitKind::Depth => "over the limit of depth",
                LimitKind::Output => "over the limit of output",
            }),
        }
    }

    /// Returns whether the subject ended the trial itself.
    pub fn is_orderly(&self) -> bool {
        match self {
            Ending::Finished | Ending::Refused | Ending::GaveUp => true,
            Ending::Crashed { .. }
            | Ending::Hung
            | Ending::MalformedMove { .. }
            | Ending::OverLimit { .. }
            | Ending::Aborted { .. }
            | Ending::Unfunded => false,
        }
    }

    /// Returns whether the transcript says something about the subject.
    pub fn is_scorable(&self) -> bool {
        match self {
            Ending::Finished
            | Ending::Refused
            | Ending::GaveUp
            | Ending::Crashed { .. }
            | Ending::Hung
            | Ending::MalformedMove { .. }
            | Ending::OverLimit { .. } => true,
            Ending::Aborted { .. } | Ending::Unfunded => false,
        }
    }

    /// Returns whether a recording was missing in replay mode.
    pub fn needs_recording(&self) -> bool {
        matches!(self, Ending::Aborted { by: FaultSource::Recordings, .. })
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ending::Finished => f.write_str("finished"),
            Ending::Refused => f.write_str("refused"),
            Ending::GaveUp => f.write_str("gave up"),
            Ending::Crashed { why } => write!(f, "crashed: {why}"),
            Ending::Hung => f.write_str("hung: no move came in time; a program must end each line and flush it"),
            Ending::MalformedMove { why } => write!(f, "made a malformed move: {why}"),
            Ending::OverLimit { limit } => write!(f, "went over its limit of {}", format!("{limit:?}").to_lowercase()),
            Ending::Aborted { by: FaultSource::Recordings, why } => write!(f, "needs recording: {why}"),
            Ending::Aborted { by, why } => write!(f, "aborted by the {}: {why}", format!("{by:?}").to_lowercase()),
            Ending::Unfunded => f.write_str("not funded"),
        }
    }
}
