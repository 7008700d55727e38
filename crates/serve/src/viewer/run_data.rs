//! Reads what the page of a run shows.

use crate::pages::{ChainRates, RunFacts};
use model::{CaseOutcome, GateVerdicts, Score, Workspace};
use score::causes::FailureCauses;
use score::outcome::case_outcome;
use std::collections::BTreeMap;
use store::{SearchIndex, Store, StoreError, StoredOutcome, StoredRun, TrialFilter, TrialPage};

/// Failed trials on the page of a run.
const MAX_FAILED: usize = 50;
/// Trials whose scores, times and costs are read for a page. Of larger runs, the first ones.
const MAX_READ: u64 = 5_000;

/// Content of a run's page.
#[derive(Debug)]
pub(super) struct RunData {
    pub facts: RunFacts,
    pub verdicts: GateVerdicts,
    pub causes: FailureCauses,
    pub failed: TrialPage,
    pub reasons: BTreeMap<u64, String>,
    pub times: Vec<f64>,
    pub costs: Vec<f64>,
    pub chains: ChainRates,
    /// Trials that were read, if not all.
    pub read_first: Option<u64>,
}

impl RunData {
    pub(super) fn read(workspace: &Workspace, store: &Store, index: Option<&SearchIndex>, run: &StoredRun) -> Result<Self, StoreError> {
        store.check_format(run)?;
        let mut causes = FailureCauses::default();
        let (mut times, mut reasons, mut chains) = (vec![], BTreeMap::new(), ChainRates::default());
        store.for_each_ended_within(run.run, 0..MAX_READ, |ended| {
            causes.add(&ended.scores);
            times.push(ended.wall_us as f64);
            let outcome = case_outcome(&ended.ending, &ended.scores);
            chains.add(workspace.case(&ended.trial.case), outcome);
            if reasons.len() < MAX_FAILED && outcome == CaseOutcome::Failed {
                reasons.insert(ended.n, failure_reasons(&ended.scores));
            }
        })?;
        let filter = TrialFilter { outcome: Some(StoredOutcome::Failed), ..TrialFilter::default() };
        let costs = store.trial_costs(run.run, usize::try_from(MAX_READ).unwrap_or(usize::MAX))?;
        Ok(Self {
            facts: run_facts(run),
            verdicts: store.verdicts(run)?,
            causes,
            failed: store.list_trials(index, run.run, &filter, 0, MAX_FAILED)?,
            reasons,
            times,
            costs: costs.into_iter().map(|nanos| nanos as f64 / 1e9).collect(),
            chains,
            read_first: (run.finished > MAX_READ).then_some(MAX_READ),
        })
    }
}

/// Returns the misses of a trial in words.
fn failure_reasons(scores: &[Score]) -> String {
    let missed = scores.iter().filter(|score| score.reading.is_violation());
    missed.map(|score| format!("{}: {}", score.scorer, score.reasons())).collect::<Vec<_>>().join("; ")
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
