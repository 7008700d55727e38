//! Rescores stored transcripts, and imports complete records into a store.

use crate::aggregate::{RunAggregator, StoredTrialList, TrialList};
use crate::summary::RunSummary;
use model::{
    ContentHash, GateVerdicts, RECORD_FORMAT, RunClaim, RunRecord, Score, Transcript, Trial, TrialScores, Workspace, scores_to_json,
};
use score::outcome::case_outcome;
use score::score_trial;
use score::scorers::scorers_for_case;
use store::{EndedTrial, NewRun, Store, StoreError, StoredRun, TrialRow};

/// Run scored with the current scorers and gates.
#[derive(Debug, Clone, PartialEq)]
pub struct RescoredRun {
    pub record: RunRecord,
    pub summary: RunSummary,
}

/// Rescores a record in memory and judges its gates. Stored scores and verdicts are ignored. Stored runs are read by [`rescore_stored`].
pub fn rescore(workspace: &Workspace, stored: RunRecord, claim: RunClaim) -> RescoredRun {
    let RunRecord { plan, transcripts, .. } = stored;
    let mut aggregator = RunAggregator::new(workspace, TrialList::Plan(&plan), claim);
    let mut scores = Vec::with_capacity(transcripts.len());
    let mut left = transcripts.iter().peekable();
    for (n, trial) in (0..).zip(&plan.trials) {
        let Some(transcript) = left.next_if(|transcript| transcript.trial == trial.id) else { continue };
        let ended = rescore_trial(workspace, n, trial, transcript, &claim);
        aggregator.add(&ended);
        scores.push(TrialScores { trial: trial.id.clone(), scores: ended.scores });
    }
    let summary = aggregator.finish();
    let GateVerdicts { judgements, out_of_scope } = summary.verdicts.clone();
    let record = RunRecord { format: RECORD_FORMAT, claim, plan, transcripts, scores, judgements, out_of_scope };
    RescoredRun { record, summary }
}

/// Rescores a stored run trial by trial, and judges its gates. Calls `take` with each trial, its scores as stored and as they are now.
/// Holds one trial at a time.
pub fn rescore_stored(
    workspace: &Workspace,
    store: &Store,
    run: &StoredRun,
    claim: RunClaim,
    mut take: impl FnMut(&EndedTrial, &[Score]),
) -> Result<RunSummary, StoreError> {
    store.check_format(run)?;
    let trials = StoredTrialList { outline: run.plan.as_ref(), subjects: store.subjects_of_run(run)?, workspace: &run.workspace };
    let mut aggregator = RunAggregator::new(workspace, TrialList::Stored(&trials), claim);
    let mut position = 0;
    store.for_each_unread(run.run, |unread| {
        // The stored trials of a run without an outline are the plan, even if some positions are missing.
        let n = if run.plan.is_some() { unread.n } else { position };
        position += 1;
        let ended = EndedTrial { wall_us: unread.wall_us()?, ..rescore_trial(workspace, n, &unread.trial, &unread.transcript()?, &claim) };
        aggregator.add(&ended);
        take(&ended, &unread.scores()?);
        Ok(())
    })?;
    Ok(aggregator.finish())
}

fn rescore_trial(workspace: &Workspace, n: u64, trial: &Trial, transcript: &Transcript, claim: &RunClaim) -> EndedTrial {
    let scores = score_again(workspace, transcript, claim);
    let scores_hash = ContentHash::of_text(&scores_to_json(&scores));
    let (content_hash, ending) = (transcript.to_serialized().content_hash, transcript.ending.clone());
    EndedTrial { n, trial: trial.clone(), content_hash, ending, scores, scores_hash, wall_us: 0 }
}

/// Returns the scores of a transcript; none if its case no longer exists.
fn score_again(workspace: &Workspace, transcript: &Transcript, claim: &RunClaim) -> Vec<Score> {
    let Some(case) = workspace.case(&transcript.case) else { return vec![] };
    score_trial(workspace, case, &scorers_for_case(workspace, case), transcript, claim)
}

/// Stores a complete record, such as a conversation, as a run that can be shown and scored but not resumed. `at` is UTC, ISO 8601.
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
        store.add_trial(&TrialRow { run, n, trial: trial.clone(), outcome, wall_us: 0, transcript: written, scores, output: None })?;
    }
    let verdicts = GateVerdicts { judgements: judgements.clone(), out_of_scope: out_of_scope.clone() };
    store.set_verdicts(run, &verdicts, Some(&hash), at)
}
