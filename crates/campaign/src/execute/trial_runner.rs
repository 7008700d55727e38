//! Runs and scores one trial of a prepared run.

use super::case_driver::{CaseDriver, harness_abort};
use super::scored_trial::ScoredTrial;
use crate::prepare::PreparedRun;
use futures::FutureExt;
use model::{ContentHash, Ending, scores_to_json};
use score::outcome::case_outcome;
use std::panic::AssertUnwindSafe;
use std::time::Duration;
use store::{EndedTrial, TrialRow};

pub(crate) struct TrialRunner {
    driver: CaseDriver,
    /// Key of the run in the store.
    run: i64,
}

/// Finished trial, in the forms for the store and for aggregation.
pub(crate) struct TrialOutput {
    pub row: TrialRow,
    pub ended: EndedTrial,
}

/// Time for a signal that has ended an agent to reach this process too.
const INTERRUPT_GRACE: Duration = Duration::from_millis(250);

impl TrialRunner {
    pub(crate) fn new(prepared: PreparedRun, run: i64) -> Self {
        Self { driver: CaseDriver { prepared }, run }
    }

    /// Runs the trial with this index. A crash is held back for a moment: a Ctrl-C that has ended the agent ends this run too, and
    /// then the trial is dropped with its future.
    pub(crate) async fn run_trial(&self, n: u64) -> TrialOutput {
        let output = self.run_at_once(n).await;
        if matches!(output.ended.ending, Ending::Crashed { .. }) {
            tokio::time::sleep(INTERRUPT_GRACE).await;
        }
        output
    }

    /// Runs a trial. A panic aborts this trial, not the run.
    async fn run_at_once(&self, n: u64) -> TrialOutput {
        let stopwatch = self.driver.prepared.clock().stopwatch();
        let plan = self.driver.prepared.plan();
        let trial = plan.outline().trial(n);
        let (at, subject) = plan.outline().case_and_subject(n);
        let driven = AssertUnwindSafe(self.driver.drive(&trial, at, subject)).catch_unwind().await;
        let driven = driven.unwrap_or_else(|_| harness_abort("the trial panicked".into()).into());
        let ScoredTrial { transcript, scores, output } = self.driver.score(&trial, at, plan.case(at), driven).await;
        let outcome = case_outcome(&transcript.ending, &scores);
        let (written, scored) = (transcript.to_serialized(), scores_to_json(&scores));
        let (content, scores_hash) = (written.content_hash.clone(), ContentHash::of_text(&scored));
        let wall_us = u64::try_from(stopwatch.elapsed().as_micros()).unwrap_or(u64::MAX);
        let ended = EndedTrial { n, trial: trial.clone(), content_hash: content, ending: transcript.ending, scores, scores_hash, wall_us };
        TrialOutput { row: TrialRow { run: self.run, n, trial, outcome, wall_us, transcript: written, scores: scored, output }, ended }
    }
}
