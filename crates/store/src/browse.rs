//! Pages of runs and trials for a reader that never holds a whole list. Pages follow a key, never an offset, so that late pages cost what early ones do.

use crate::search::{SearchIndex, SearchTerms};
use crate::selection::RunQuery;
use crate::{Store, StoreError, StoredRun};
use std::ops::Range;

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
    /// Words in the events, a called tool, a missed scorer.
    pub terms: SearchTerms,
    /// Nano-dollars.
    pub least_cost: Option<u64>,
    pub most_cost: Option<u64>,
    pub least_us: Option<u64>,
    pub most_us: Option<u64>,
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

/// Rows of one page, and the position at which the next one begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrialPage {
    pub rows: Vec<TrialListing>,
    /// Absent on the last page. A page may have few rows and a next one: only so many trials are looked at for a page.
    pub next: Option<u64>,
}

/// Selection of trials for a list.
#[derive(Debug, Clone)]
pub(crate) struct ListingQuery<'q> {
    pub run: i64,
    pub filter: &'q TrialFilter,
    /// Positions in the plan.
    pub within: Range<u64>,
    /// Positions to choose from; absent for all.
    pub positions: Option<&'q [u64]>,
    pub most: usize,
}

/// Positions in the plan that are looked at for one page.
const MAX_POSITIONS: u64 = 20_000;
/// Trials with the words that are looked at for one page.
const MAX_MATCHES: usize = 1_000;

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

impl Store {
    /// Returns up to `most` runs that began before the run with this key, the last one first.
    pub fn runs_before(&self, before: Option<i64>, most: usize) -> Result<Vec<StoredRun>, StoreError> {
        self.find_runs(RunQuery::Before(before.unwrap_or(i64::MAX), most))
    }

    /// Finds the run whose id or record hash starts with `prefix`, the last one begun if there are several.
    pub fn run_with_prefix(&self, prefix: &str) -> Result<Option<StoredRun>, StoreError> {
        Ok(self.find_runs(RunQuery::Prefix(prefix))?.pop())
    }

    /// Returns up to `most` trials of a run from position `from` on that pass the filter, in plan order. Without an index, words are looked for
    /// as one text in the stored events.
    pub fn list_trials(
        &self,
        index: Option<&SearchIndex>,
        run: i64,
        filter: &TrialFilter,
        from: u64,
        most: usize,
    ) -> Result<TrialPage, StoreError> {
        let Some(index) = index.filter(|_| !filter.terms.is_empty()) else {
            return self.scan_trials(run, filter, from, most);
        };
        let positions = index.find_in_run(&filter.terms, run, from, MAX_MATCHES)?;
        let mut rows = self.trials_at(run, filter, &positions)?;
        let mut next = (positions.len() == MAX_MATCHES).then(|| positions.last().map(|last| last + 1)).flatten();
        if rows.len() > most {
            rows.truncate(most);
            next = rows.last().map(|last| last.n + 1);
        }
        Ok(TrialPage { rows, next })
    }

    /// Returns those of the trials at these positions that pass the filter apart from its terms, which the index has decided.
    pub fn trials_at(&self, run: i64, filter: &TrialFilter, positions: &[u64]) -> Result<Vec<TrialListing>, StoreError> {
        let (Some(first), Some(last)) = (positions.iter().min(), positions.iter().max()) else { return Ok(vec![]) };
        let filter = &TrialFilter { terms: SearchTerms::default(), ..filter.clone() };
        let within = *first..last.saturating_add(1);
        self.engine.list_trials(&ListingQuery { run, filter, within, positions: Some(positions), most: positions.len() })
    }

    fn scan_trials(&self, run: i64, filter: &TrialFilter, from: u64, most: usize) -> Result<TrialPage, StoreError> {
        let end = from.saturating_add(MAX_POSITIONS);
        let query = ListingQuery { run, filter, within: from..end, positions: None, most: most.saturating_add(1) };
        let mut rows = self.engine.list_trials(&query)?;
        if rows.len() > most {
            rows.truncate(most);
            let next = rows.last().map(|last| last.n + 1);
            return Ok(TrialPage { rows, next });
        }
        let all = &TrialFilter::default();
        let later = self.engine.list_trials(&ListingQuery { run, filter: all, within: end..u64::MAX, positions: None, most: 1 })?;
        Ok(TrialPage { rows, next: later.first().map(|first| first.n) })
    }
}

/// Returns a position or amount that engines can hold.
pub(crate) fn signed(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
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
