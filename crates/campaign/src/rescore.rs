//! Scores stored transcripts again, and stores records that are there as a whole. Needs nothing but them and the workspace.

use crate::aggregate::{RunAggregator, TrialList};
use crate::summary::RunSummary;
use model::{ContentHash, GateVerdicts, RECORD_FORMAT, RunClaim, RunRecord, Score, Transcript, TrialScores, Workspace, scores_to_json};
use score::outcome::case_outcome;
use score::score_trial;
use score::scorers::scorers_for_case;
use store::{EndedTrial, NewRun, Store, StoreError, TrialRow};

/// A run scored with the scorers and gates of today.
#[derive(Debug, Clone, PartialEq)]
pub struct RescoredRun {
    pub record: RunRecord,
    pub summary: RunSummary,
}

/// Scores and judges a stored run again. Its old scores and verdicts are not looked at.
pub fn rescore(workspace: &Workspace, stored: RunRecord, claim: RunClaim) -> RescoredRun {
    let RunRecord { plan, transcripts, .. } = stored;
    let mut aggregator = RunAggregator::new(workspace, TrialList::Plan(&plan), claim);
    let mut scores = Vec::with_capacity(transcripts.len());
    let mut left = transcripts.iter().peekable();
    for (n, trial) in (0..).zip(&plan.trials) {
        let Some(transcript) = left.next_if(|transcript| transcript.trial == trial.id) else { continue };
        let read = score_again(workspace, transcript, &claim);
        let scores_hash = ContentHash::of_text(&scores_to_json(&read));
        let (content, ending) = (transcript.to_serialized().content_hash, transcript.ending.clone());
        let ended = EndedTrial { n, trial: trial.clone(), content_hash: content, ending, scores: read, scores_hash };
        aggregator.add(&ended);
        scores.push(TrialScores { trial: trial.id.clone(), scores: ended.scores });
    }
    let summary = aggregator.finish();
    let GateVerdicts { judgements, out_of_scope } = summary.verdicts.clone();
    let record = RunRecord { format: RECORD_FORMAT, claim, plan, transcripts, scores, judgements, out_of_scope };
    RescoredRun { record, summary }
}

/// Nothing is read off a trial whose case the workspace no longer has.
fn score_again(workspace: &Workspace, transcript: &Transcript, claim: &RunClaim) -> Vec<Score> {
    let Some(case) = workspace.case(&transcript.case) else { return vec![] };
    score_trial(workspace, case, &scorers_for_case(workspace, case), transcript, claim)
}

/// Stores a record that is there as a whole, such as a conversation. `at` is UTC, ISO 8601. The run can be shown and scored, and there is
/// nothing to resume.
pub fn import_record(store: &Store, record: &RunRecord, at: &str) -> Result<(), StoreError> {
    let hash = record.hash();
    let RunRecord { claim, plan, transcripts, scores, judgements, out_of_scope, .. } = record;
    let id = ContentHash::of_text(&format!("{at} {hash}"));
    let planned = plan.trials.len() as u64;
    let new = NewRun { id: id.as_str(), started: at, workspace: &plan.workspace, claim, settings: "{}", plan: None, planned, budget: None };
    let run = store.begin_run(&new)?;
    for (n, ((trial, transcript), scores)) in (0..).zip(plan.trials.iter().zip(transcripts).zip(scores)) {
        let outcome = case_outcome(&transcript.ending, &scores.scores);
        let (written, scores) = (transcript.to_serialized(), scores_to_json(&scores.scores));
        store.add_trial(&TrialRow { run, n, trial: trial.clone(), outcome, wall_us: 0, transcript: written, scores })?;
    }
    let verdicts = GateVerdicts { judgements: judgements.clone(), out_of_scope: out_of_scope.clone() };
    store.set_verdicts(run, &verdicts, Some(&hash), at)
}
