//! Scores logs of other frameworks: transcripts without a run, with or without a workspace.

mod log_gates;
mod log_scorer;
mod log_summary;
mod unknown_case;

pub(crate) use unknown_case::unknown_case;

pub use log_gates::{LogGates, LogVerdicts};
pub use log_scorer::{CaseKnowledge, LogScorer, ScoredRecording};
pub use log_summary::{AttackFindingLine, ChangedReading, LogSummary, ReadingTotals, TrialShare};
