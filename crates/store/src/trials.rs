//! Trials that ended, and counters of a run. A trial counts as ended once its row is committed.

use crate::agent_output::AgentOutput;
use crate::selection::TrialSelection;
use crate::{Store, StoreError};
use model::transcript::SerializedTranscript;
use model::{CaseOutcome, ContentHash, Ending, Score, Trial};
use std::ops::Range;

/// Trial to be written to the store.
#[derive(Debug, Clone)]
pub struct TrialRow {
    pub run: i64,
    /// Position in the plan.
    pub n: u64,
    pub trial: Trial,
    pub outcome: CaseOutcome,
    pub wall_us: u64,
    pub transcript: SerializedTranscript,
    /// Result of [`model::scores_to_json`].
    pub scores: String,
    /// Output of an external agent, if it had any.
    pub output: Option<AgentOutput>,
}

impl TrialRow {
    /// Returns the column `passed`: true, false, or NULL without a verdict.
    pub(crate) fn passed_column(&self) -> Option<bool> {
        match self.outcome {
            CaseOutcome::Passed => Some(true),
            CaseOutcome::Failed => Some(false),
            CaseOutcome::Unjudged | CaseOutcome::Aborted { .. } => None,
        }
    }
}

/// Stored trial without its events.
#[derive(Debug, Clone)]
pub struct EndedTrial {
    pub n: u64,
    pub trial: Trial,
    pub content_hash: ContentHash,
    pub ending: Ending,
    pub scores: Vec<Score>,
    /// Hash of the scores as stored.
    pub scores_hash: ContentHash,
    pub wall_us: u64,
}

impl Store {
    /// Stores a trial, replacing an earlier row of the same trial. Aborted trials are run again.
    pub fn add_trial(&self, row: &TrialRow) -> Result<(), StoreError> {
        self.engine.add_trials(std::slice::from_ref(row))
    }

    /// Removes the trials from this position on: a run that stops early keeps no trial that only its speed has let it run.
    pub fn remove_trials_from(&self, run: i64, n: u64) -> Result<(), StoreError> {
        self.engine.remove_trials_from(run, n)
    }

    /// Calls `take` with every trial that ended, in plan order.
    pub fn for_each_ended(&self, run: i64, take: impl FnMut(EndedTrial)) -> Result<(), StoreError> {
        self.for_each_ended_within(run, 0..i64::MAX as u64, take)
    }

    /// Like [`Store::for_each_ended`], limited to a range of positions in the plan.
    pub fn for_each_ended_within(&self, run: i64, positions: Range<u64>, mut take: impl FnMut(EndedTrial)) -> Result<(), StoreError> {
        self.engine.for_each_trial(&TrialSelection { run, positions, with_events: false }, &mut |unread| {
            take(unread.to_ended()?);
            Ok(())
        })
    }

    /// Adds to a counter that is not part of the record, such as cache hits or retried calls.
    pub fn add_telemetry(&self, run: i64, what: &str, n: u64) -> Result<(), StoreError> {
        self.engine.add_telemetry(run, what, n)
    }

    /// Returns the counters of a run, sorted by name.
    pub fn telemetry(&self, run: i64) -> Result<Vec<(String, u64)>, StoreError> {
        self.engine.telemetry(run)
    }
}
