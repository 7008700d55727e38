//! Scores stored transcripts again, and stores records that are there as a whole. Needs nothing but them and the workspace.

use crate::aggregate::{RunAggregator, TrialList};
use crate::summary::Summary;
use model::{Claim, FORMAT, GateVerdicts, Hash, RunRecord, Score, Transcript, TrialScores, Workspace, written_scores};
use score::outcome::case_outcome;
use score::score_trial;
use score::scorers::applying;
use store::{EndedTrial, NewRun, Store, StoreError, TrialRow};

/// A run scored with the scorers and gates of today.
#[derive(Debug, Clone, PartialEq)]
pub struct RescoredRun {
    pub record: RunRecord,
    pub summary: Summary,
}

/// Scores and judges a stored run again. Its old scores and verdicts are not looked at.
pub fn rescore(workspace: &Workspace, stored: RunRecord, claim: Claim) -> RescoredRun {
    let RunRecord { plan, transcripts, .. } = stored;
    let mut aggregator = RunAggregator::new(workspace, TrialList::Plan(&plan), claim);
    let mut scores = Vec::with_capacity(transcripts.len());
    let mut left = transcripts.iter().peekable();
    for (n, trial) in (0..).zip(&plan.trials) {
        let Some(transcript) = left.next_if(|transcript| transcript.trial == trial.id) else { continue };
        let read = score(workspace, transcript, &claim);
        let scores_hash = Hash::of_text(&written_scores(&read));
        let (content, ending) = (transcript.written().content, transcript.ending.clone());
        let ended = EndedTrial { n, trial: trial.clone(), content, ending, scores: read, scores_hash };
        aggregator.add(&ended);
        scores.push(TrialScores { trial: trial.id.clone(), scores: ended.scores });
    }
    let summary = aggregator.finish();
    let GateVerdicts { judgements, out_of_scope } = summary.verdicts.clone();
    let record = RunRecord { format: FORMAT, claim, plan, transcripts, scores, judgements, out_of_scope };
    RescoredRun { record, summary }
}

/// Nothing is read off a trial whose case the workspace no longer has.
fn score(workspace: &Workspace, transcript: &Transcript, claim: &Claim) -> Vec<Score> {
    let Some(case) = workspace.case(&transcript.case) else { return vec![] };
    score_trial(workspace, case, &applying(workspace, case), transcript, claim)
}

/// Stores a record that is there as a whole, such as a conversation. `at` is UTC, ISO 8601. The run can be shown and scored, and there is
/// nothing to resume.
pub fn import_record(store: &Store, record: &RunRecord, at: &str) -> Result<(), StoreError> {
    let hash = record.hash();
    let RunRecord { claim, plan, transcripts, scores, judgements, out_of_scope, .. } = record;
    let id = Hash::of_text(&format!("{at} {hash}"));
    let planned = plan.trials.len() as u64;
    let new = NewRun { id: id.as_str(), started: at, workspace: &plan.workspace, claim, settings: "{}", plan: None, planned, budget: None };
    let run = store.begin(&new)?;
    for (n, ((trial, transcript), scores)) in (0..).zip(plan.trials.iter().zip(transcripts).zip(scores)) {
        let outcome = case_outcome(&transcript.ending, &scores.scores);
        let (written, scores) = (transcript.written(), written_scores(&scores.scores));
        store.add_trial(&TrialRow { run, n, trial: trial.clone(), outcome, wall_us: 0, written, scores })?;
    }
    let verdicts = GateVerdicts { judgements: judgements.clone(), out_of_scope: out_of_scope.clone() };
    store.judge(run, &verdicts, Some(&hash), at)
}
