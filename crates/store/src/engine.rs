//! Traits of a storage engine, one for each group of tables. Two engines implement them, `sqlite` and `postgres`, with the same tables
//! and the same results; one suite of tests runs over both.

use crate::agent_output::AgentOutput;
use crate::browse::{ListingQuery, TrialListing};
use crate::call_row::{CallKey, CallRow, CallStateCounts};
use crate::error::StoreError;
use crate::journal::JournalWrite;
use crate::lock::RunLock;
use crate::runs::{NewRun, RunColumns};
use crate::selection::{RunCounts, RunHead, RunQuery, TrialSelection, TrialText};
use crate::spending::RoleSpending;
use crate::transcripts::{TrialColumn, TrialMatches, UnreadTrial};
use crate::trials::TrialRow;
use model::ContentHash;
use std::collections::HashMap;
use std::fmt::Debug;

/// Receives the trials of a selection.
pub(crate) type TakeTrial<'t> = &'t mut dyn FnMut(&UnreadTrial<'_>) -> Result<(), StoreError>;

/// Receives the texts of trials with their positions.
pub(crate) type TakeText<'t> = &'t mut dyn FnMut(u64, TrialText) -> Result<(), StoreError>;

/// Runs of a store.
pub(crate) trait RunTable {
    fn begin_run(&self, run: &NewRun<'_>) -> Result<i64, StoreError>;
    /// Replaces verdicts (JSON), record hash and time of completion.
    fn set_verdicts(&self, run: i64, verdicts: &str, record: Option<&str>, ended: Option<&str>) -> Result<(), StoreError>;
    fn set_run_id(&self, run: i64, id: &str) -> Result<(), StoreError>;
    fn set_budget(&self, run: i64, nanos: Option<u64>) -> Result<(), StoreError>;
    /// Returns runs, the last one begun first.
    fn find_runs(&self, query: RunQuery<'_>) -> Result<Vec<RunColumns>, StoreError>;
    /// Returns the verdicts as JSON.
    fn verdicts(&self, run: i64) -> Result<Option<String>, StoreError>;
    /// Verdicts of these runs by key; runs without verdicts are left out.
    fn verdicts_by_run(&self, runs: &[i64]) -> Result<HashMap<i64, String>, StoreError>;
    fn remove_run(&self, run: i64) -> Result<(), StoreError>;
    /// Locks a run against other processes, and against other connections of this one.
    fn lock_run(&self, id: &str) -> Result<RunLock, StoreError>;
    /// Returns the space of removed runs to the file system, if the engine does not do that itself.
    fn shrink(&self);
}

/// Trials of runs, and what is kept beside them.
pub(crate) trait TrialTable {
    /// Stores trials, replacing earlier rows of the same trials: all of them or none.
    fn add_trials(&self, rows: &[TrialRow]) -> Result<(), StoreError>;
    fn remove_trials_from(&self, run: i64, n: u64) -> Result<(), StoreError>;
    /// Passes the selected trials in plan order. Few are in memory at once.
    fn for_each_trial(&self, selection: &TrialSelection, take: TakeTrial<'_>) -> Result<(), StoreError>;
    fn find_trials(&self, run: i64, case: &str, id_prefix: Option<&str>, most: usize) -> Result<TrialMatches, StoreError>;
    fn cases_of_run(&self, run: i64) -> Result<Vec<String>, StoreError>;
    /// Returns the subjects in the order of their first trial.
    fn subjects_by_first_trial(&self, run: i64) -> Result<Vec<String>, StoreError>;
    /// Returns the output of agents in the first trials that have any, from this position on, by position.
    fn agent_outputs(&self, run: i64, from: u64, most: usize) -> Result<Vec<(u64, AgentOutput)>, StoreError>;
    fn list_trials(&self, query: &ListingQuery<'_>) -> Result<Vec<TrialListing>, StoreError>;
    fn add_telemetry(&self, run: i64, what: &str, n: u64) -> Result<(), StoreError>;
    fn telemetry(&self, run: i64) -> Result<Vec<(String, u64)>, StoreError>;
}

/// Model calls, their cost, and cached replies.
pub(crate) trait CallTable {
    /// Applies writes in order and commits them: all of them or none.
    fn write(&self, writes: &[JournalWrite]) -> Result<(), StoreError>;
    fn call_counts(&self, run: i64) -> Result<CallStateCounts, StoreError>;
    fn mean_latency_ms(&self, run: i64) -> Result<Option<f64>, StoreError>;
    fn settled_reply(&self, call: &CallKey) -> Result<Option<(u64, String)>, StoreError>;
    /// Fails the calls of a run that are reserved, at their ceiling, and returns their number.
    fn fail_reserved_calls(&self, run: i64) -> Result<usize, StoreError>;
    fn cached_reply(&self, key: &ContentHash, not_before: i64) -> Result<Option<String>, StoreError>;
    fn evict_replies_before(&self, before: i64) -> Result<usize, StoreError>;
    /// Passes all calls of a run, sorted by key.
    fn for_each_call(&self, run: i64, take: &mut dyn FnMut(CallRow) -> Result<(), StoreError>) -> Result<(), StoreError>;
    /// Inserts calls as they were read from another store.
    fn insert_calls(&self, run: i64, calls: &[CallRow]) -> Result<(), StoreError>;
    fn total_spending(&self, run: i64) -> Result<u64, StoreError>;
    /// Returns the spending sorted by case, subject and role.
    fn spending(&self, run: i64) -> Result<Vec<RoleSpending>, StoreError>;
    fn trial_costs(&self, run: i64, most: usize) -> Result<Vec<u64>, StoreError>;
    fn count_world_answers(&self, run: i64) -> Result<u64, StoreError>;
}

/// Questions of the viewer and of its search index. An engine answers those itself that it can answer with less reading.
pub(crate) trait BrowseTable: RunTable + TrialTable + CallTable {
    /// Returns runs begun before the one with this key, at most so many, the last one first.
    fn run_heads(&self, before: i64, most: usize) -> Result<Vec<RunHead>, StoreError> {
        let runs = self.find_runs(RunQuery::Before(before, most))?;
        Ok(runs.into_iter().map(|run| RunHead { run: run.run, id: run.id, started: run.started, ended: run.ended }).collect())
    }

    fn run_id(&self, run: i64) -> Result<Option<String>, StoreError> {
        Ok(self.find_runs(RunQuery::Key(run))?.pop().map(|run| run.id))
    }

    /// Counts the trials and the cost of a run.
    fn run_counts(&self, run: i64) -> Result<RunCounts, StoreError> {
        let Some(run) = self.find_runs(RunQuery::Key(run))?.pop() else { return Ok(RunCounts::default()) };
        let run = run.parse()?;
        let (planned, finished, passed, aborted, spent) = (run.planned, run.finished, run.passed, run.aborted, run.spent);
        Ok(RunCounts { planned, finished, passed, aborted, spent, subjects: run.subjects })
    }

    /// Returns the first and last cases of a run.
    fn cases_at_ends(&self, run: i64) -> Result<Vec<String>, StoreError> {
        self.cases_of_run(run)
    }

    /// Returns positions and content hashes of the trials of a run.
    fn trial_contents(&self, run: i64) -> Result<Vec<(u64, String)>, StoreError> {
        let mut found = vec![];
        let selection = TrialSelection { run, positions: 0..i64::MAX as u64, with_events: false };
        self.for_each_trial(&selection, &mut |unread| {
            found.push((unread.n, unread.texts.text(TrialColumn::Content)?.into_owned()));
            Ok(())
        })?;
        Ok(found)
    }

    fn trial_text(&self, run: i64, n: u64) -> Result<Option<TrialText>, StoreError> {
        let mut found = None;
        let selection = TrialSelection { run, positions: n..n.saturating_add(1), with_events: true };
        self.for_each_trial(&selection, &mut |unread| {
            let text = |column| unread.texts.text(column).map(std::borrow::Cow::into_owned);
            found = Some(TrialText {
                case: unread.trial.case.clone(),
                content: text(TrialColumn::Content)?,
                events: text(TrialColumn::Events)?,
                scores: text(TrialColumn::Scores)?,
            });
            Ok(())
        })?;
        Ok(found)
    }

    /// Passes the texts of the trials at these positions, which are sorted.
    fn for_each_text(&self, run: i64, positions: &[u64], take: TakeText<'_>) -> Result<(), StoreError> {
        for n in positions {
            if let Some(text) = self.trial_text(run, *n)? {
                take(*n, text)?;
            }
        }
        Ok(())
    }

    /// Returns up to `most` calls of a trial, those of the subject first.
    fn calls_of_trial(&self, run: i64, trial: &str, most: usize) -> Result<Vec<CallRow>, StoreError> {
        let mut found = vec![];
        self.for_each_call(run, &mut |call| {
            if call.trial == trial {
                found.push(call);
            }
            Ok(())
        })?;
        found.sort_by(|a, b| b.role.cmp(&a.role).then(a.n.cmp(&b.n)));
        found.truncate(most);
        Ok(found)
    }
}

/// Storage engine of a [`crate::Store`].
pub(crate) trait StoreEngine: RunTable + TrialTable + CallTable + BrowseTable + Debug + Send {
    /// Returns the connection of a store on PostgreSQL, for what only a store shared by machines has.
    fn postgres(&self) -> Option<&crate::postgres::PgConnection>;
}
