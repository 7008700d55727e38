//! Runs and golden baselines compared with each other, one subject on each side.

mod golden_side;
mod side_facts;
mod stored_side;

pub use golden_side::{golden_changes, golden_side};
pub use side_facts::{SideFacts, SideSource, SubjectComparison, compare_subjects};
pub use stored_side::{ComparedSide, UnjudgedTrials, handle_side, stored_side};
