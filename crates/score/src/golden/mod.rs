//! Golden baselines: what a subject did when somebody looked and found it good, and whether it still does.

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
pub use golden_path::GoldenPath;
pub use stamp::{AgentFingerprint, GoldenStamp};
