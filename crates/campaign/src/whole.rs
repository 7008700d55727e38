//! Keeps a run that is there as a whole, such as a conversation.

use crate::summary::passed;
use model::{Hash, RunRecord, written_scores};
use store::{NewRun, Store, StoreError, TrialRow, Verdicts};

/// `at` is UTC, ISO 8601. The run can be shown and scored, and there is nothing to resume.
pub fn keep_whole(store: &Store, record: &RunRecord, at: &str) -> Result<(), StoreError> {
    let hash = record.hash();
    let RunRecord { claim, plan, transcripts, scores, judgements, out_of_scope, .. } = record;
    let id = Hash::of_text(&format!("{at} {hash}"));
    let planned = plan.trials.len() as u64;
    let new = NewRun { id: id.as_str(), started: at, workspace: &plan.workspace, claim, settings: "{}", plan: None, planned, budget: None };
    let run = store.begin(&new)?;
    for (n, ((trial, transcript), scores)) in (0..).zip(plan.trials.iter().zip(transcripts).zip(scores)) {
        let passed = passed(&transcript.ending, &scores.scores);
        let (written, scores) = (transcript.written(), written_scores(&scores.scores));
        store.add_trial(&TrialRow { run, n, trial: trial.clone(), passed, wall_us: 0, written, scores })?;
    }
    let verdicts = Verdicts { judgements: judgements.clone(), out_of_scope: out_of_scope.clone() };
    store.judge(run, &verdicts, Some(&hash), at)
}
