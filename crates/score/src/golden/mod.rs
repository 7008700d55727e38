//! Golden baselines: reviewed behaviour of a subject, to compare later runs with.

mod differ;
mod entry;
mod file;
mod golden_path;
mod stamp;
mod step_meaning;
mod text_facts;

pub use differ::{GoldenComparison, RewordedText, compare};
pub use entry::{GoldenEntry, GoldenStep};
pub use file::{GoldenFile, UnreadableLine};
pub use golden_path::{GoldenAnswers, GoldenPath};
pub use stamp::{AgentFingerprint, GoldenStamp};
