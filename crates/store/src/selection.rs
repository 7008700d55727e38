//! Selections of runs and trials that engines answer.

use std::ops::Range;

/// Selection of runs. All but one name at most one run or a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunQuery<'q> {
    All,
    Key(i64),
    /// Runs begun before the one with this key, at most so many.
    Before(i64, usize),
    /// Last run whose id or record hash starts with this text.
    Prefix(&'q str),
}

/// Selection of the trials of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TrialSelection {
    pub run: i64,
    /// Positions in the plan.
    pub positions: Range<u64>,
    /// Events are most of a trial; without them they cannot be read from the row.
    pub with_events: bool,
}
