//! Selections of runs and trials that engines answer.

use std::ops::Range;

/// Selection of runs. All but one name at most one run or a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunQuery<'q> {
    All,
    /// All runs; their plans lack the cases.
    Listed,
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

/// Counters of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunCounts {
    pub planned: u64,
    /// Trials that ended, passed, and ended without evidence.
    pub finished: u64,
    pub passed: u64,
    pub aborted: u64,
    /// Nano-dollars. Calls under way count at their ceiling.
    pub spent: u64,
    pub subjects: Vec<String>,
}

/// Run without plan and counters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RunHead {
    pub run: i64,
    pub id: String,
    pub started: String,
    /// Absent while the run is incomplete.
    pub ended: Option<String>,
}

/// Trial as the search index reads it.
#[derive(Debug)]
pub(crate) struct TrialText {
    pub case: String,
    /// Hash of events and ending.
    pub content: String,
    /// JSON.
    pub events: String,
    pub scores: String,
}
