//! Runs and golden baselines compared with each other, one subject on each side.

mod golden_side;
mod plain_side;
mod side_facts;
mod stored_side;
mod subject_comparison;

pub use golden_side::{golden_changes, golden_side};
pub use plain_side::{PlainResult, plain_side};
pub use side_facts::{ComparedSide, SideFacts, SideSource};
pub use stored_side::{LiveRun, UnjudgedTrials, handle_side, stored_side};
pub use subject_comparison::{SubjectComparison, compare_subjects};
