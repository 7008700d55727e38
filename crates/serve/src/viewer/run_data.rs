//! Reads what the page of a run shows.

use super::ViewerState;
use super::store_pool::PooledStore;
use crate::pages::{PassRates, RunFacts};
use model::{CaseOutcome, GateVerdicts, Score, Workspace};
use score::causes::FailureCauses;
use score::outcome::case_outcome;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use store::{Store, StoreError, StoredOutcome, StoredRun, TrialFilter, TrialPage};

/// Failed trials on the page of a run.
const MAX_FAILED: usize = 50;
/// Characters of the reasons of a failed trial that are kept.
const MAX_REASON_CHARS: usize = 1_000;
/// Trials whose scores, times and costs are read for a page. Of larger runs, the first ones.
const MAX_READ: u64 = 5_000;

/// Content of a run's page.
#[derive(Debug)]
pub(super) struct RunData {
    pub facts: RunFacts,
    pub verdicts: GateVerdicts,
    pub numbers: RunNumbers,
    pub failed: TrialPage,
    /// Trials that were read, if not all.
    pub read_first: Option<u64>,
}

/// Part of it that is made from the scores of all trials.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct RunNumbers {
    pub causes: FailureCauses,
    /// Reasons of the first failed trials by position.
    pub reasons: BTreeMap<u64, String>,
    /// Microseconds.
    pub times: Vec<f64>,
    /// US dollars.
    pub costs: Vec<f64>,
    pub rates: PassRates,
}

impl RunData {
    pub(super) fn read(state: &ViewerState, pooled: &PooledStore, run: &StoredRun) -> Result<Self, StoreError> {
        pooled.store.check_format(run)?;
        let filter = TrialFilter { outcome: Some(StoredOutcome::Failed), ..TrialFilter::default() };
        Ok(Self {
            facts: run_facts(run),
            verdicts: pooled.store.verdicts(run)?,
            numbers: state.numbers(pooled, run)?,
            failed: pooled.store.list_trials(pooled.index.as_ref(), run.run, &filter, 0, MAX_FAILED)?,
            read_first: (run.finished > MAX_READ).then_some(MAX_READ),
        })
    }
}

impl RunNumbers {
    pub(super) fn read(workspace: &Workspace, store: &Store, run: &StoredRun) -> Result<Self, StoreError> {
        let mut causes = FailureCauses::default();
        let (mut times, mut reasons, mut rates) = (vec![], BTreeMap::new(), PassRates::default());
        store.for_each_ended_within(run.run, 0..MAX_READ, |ended| {
            causes.add(&ended.trial.case, &ended.scores, &ended.ending);
            times.push(ended.wall_us as f64);
            let outcome = case_outcome(&ended.ending, &ended.scores);
            rates.add(workspace.case(&ended.trial.case), outcome);
            if reasons.len() < MAX_FAILED && outcome == CaseOutcome::Failed {
                reasons.insert(ended.n, failure_reasons(&ended.scores));
            }
        })?;
        let costs = store.trial_costs(run.run, usize::try_from(MAX_READ).unwrap_or(usize::MAX))?;
        Ok(Self { causes, reasons, times, costs: costs.into_iter().map(|nanos| nanos as f64 / 1e9).collect(), rates })
    }
}

/// Returns the misses of a trial in words.
fn failure_reasons(scores: &[Score]) -> String {
    let missed = scores.iter().filter(|score| score.reading.is_violation());
    let text = missed.map(|score| format!("{}: {}", score.scorer, score.reasons())).collect::<Vec<_>>().join("; ");
    text.chars().take(MAX_REASON_CHARS).collect()
}

fn run_facts(run: &StoredRun) -> RunFacts {
    RunFacts {
        id: run.short_run_id().to_owned(),
        subjects: run.subjects.clone(),
        started: run.started.clone(),
        ended: run.ended.clone(),
        workspace: run.workspace.short().to_owned(),
        workspace_version: run.plan.as_ref().and_then(|plan| plan.workspace_version),
        tier: run.claim.tier,
        planned: run.planned,
        finished: run.finished,
        passed: run.passed,
        aborted: run.aborted,
        spent: run.spent,
    }
}
