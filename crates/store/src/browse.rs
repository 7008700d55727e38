//! Pages of runs and trials for a reader that never holds a whole list. Pages follow a key, never an offset, so that late pages cost what early ones do.

use crate::selection::RunQuery;
use crate::{Store, StoreError, StoredRun};

/// Outcome of a trial as stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoredOutcome {
    Passed,
    Failed,
    Unjudged,
    /// Aborted or not funded.
    Aborted,
}

impl StoredOutcome {
    pub const ALL: &'static [(&'static str, StoredOutcome)] = &[
        ("passed", StoredOutcome::Passed),
        ("failed", StoredOutcome::Failed),
        ("unjudged", StoredOutcome::Unjudged),
        ("aborted", StoredOutcome::Aborted),
    ];

    pub fn word(self) -> &'static str {
        match self {
            StoredOutcome::Passed => "passed",
            StoredOutcome::Failed => "failed",
            StoredOutcome::Unjudged => "unjudged",
            StoredOutcome::Aborted => "aborted",
        }
    }

    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|(text, _)| *text == word).map(|(_, outcome)| *outcome)
    }
}

/// Selection of trials. Empty texts select all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrialFilter {
    /// Part of the id of the case.
    pub case: String,
    pub subject: String,
    pub outcome: Option<StoredOutcome>,
    /// Scorer with a miss.
    pub scorer: String,
    /// Text in the events, without regard to the case of ASCII letters.
    pub text: String,
    /// Cases to choose from; absent for all.
    pub cases: Option<Vec<String>>,
}

/// Trial in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrialListing {
    /// Position in the plan.
    pub n: u64,
    pub trial: String,
    pub case: String,
    pub subject: String,
    pub seed: u64,
    pub outcome: StoredOutcome,
    pub ending: String,
    pub wall_us: u64,
    /// Nano-dollars.
    pub cost: u64,
}

/// Row of one page, and whether there are more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrialPage {
    pub rows: Vec<TrialListing>,
    pub has_more: bool,
}

impl TrialListing {
    /// Returns the outcome of a trial with this column `passed` and this ending.
    pub(crate) fn outcome_of(passed: Option<bool>, ending: &str) -> StoredOutcome {
        match passed {
            _ if matches!(ending, "aborted" | "unfunded") => StoredOutcome::Aborted,
            Some(true) => StoredOutcome::Passed,
            Some(false) => StoredOutcome::Failed,
            None => StoredOutcome::Unjudged,
        }
    }
}

impl TrialPage {
    /// Returns the page of a query for one row more than the page has.
    pub(crate) fn new(mut rows: Vec<TrialListing>, most: usize) -> Self {
        let has_more = rows.len() > most;
        rows.truncate(most);
        Self { rows, has_more }
    }
}

impl Store {
    /// Returns up to `most` runs that began before the run with this key, the last one first.
    pub fn runs_before(&self, before: Option<i64>, most: usize) -> Result<Vec<StoredRun>, StoreError> {
        self.find_runs(RunQuery::Before(before.unwrap_or(i64::MAX), most))
    }

    /// Finds the run whose id or record hash starts with `prefix`, the last one begun if there are several.
    pub fn run_with_prefix(&self, prefix: &str) -> Result<Option<StoredRun>, StoreError> {
        Ok(self.find_runs(RunQuery::Prefix(prefix))?.pop())
    }

    /// Returns up to `most` trials of a run from position `from` on that pass the filter, in plan order.
    pub fn list_trials(&self, run: i64, filter: &TrialFilter, from: u64, most: usize) -> Result<TrialPage, StoreError> {
        self.engine.list_trials(run, filter, from, most)
    }
}

/// Returns the pattern that finds a text in stored JSON; empty for an empty text.
pub(crate) fn like_pattern(text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    let quoted = serde_json::Value::from(text).to_string();
    let inner = quoted.get(1..quoted.len() - 1).unwrap_or_default();
    let escaped: String = inner.chars().flat_map(|c| if matches!(c, '%' | '_' | '\\') { vec!['\\', c] } else { vec![c] }).collect();
    format!("%{escaped}%")
}
