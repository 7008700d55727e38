//! Reads two runs, paired by case.

use model::{ProviderKind, Workspace};
use score::outcome::case_outcome;
use score::pairing::{RunComparison, RunNoise, RunSide, SideTrial, compare_sides};
use std::collections::HashMap;
use store::{Store, StoreError, StoredRun};

/// Compares a subject of one run with a subject of another.
pub(super) fn compare_runs(workspace: &Workspace, store: &Store, runs: [(&StoredRun, &str); 2]) -> Result<RunComparison, StoreError> {
    let before = read_side(workspace, store, runs[0])?;
    let after = read_side(workspace, store, runs[1])?;
    let is_deterministic = |subject: &str| workspace.subject(subject).is_some_and(|file| ProviderKind::is_deterministic(file.provider));
    let noise = if runs.iter().all(|(_, subject)| is_deterministic(subject)) { RunNoise::None } else { RunNoise::Sampled };
    Ok(compare_sides(&before, &after, noise))
}

fn read_side<'w>(workspace: &'w Workspace, store: &Store, (run, subject): (&StoredRun, &str)) -> Result<RunSide<'w>, StoreError> {
    store.check_format(run)?;
    let hashes: HashMap<&str, _> =
        run.plan.iter().flat_map(|plan| &plan.cases).map(|planned| (planned.case.as_str(), &planned.hash)).collect();
    let mut side = RunSide::new(workspace);
    store.for_each_ended(run.run, |ended| {
        let Some(case) = workspace.case(&ended.trial.case).filter(|_| ended.trial.subject == subject) else { return };
        let outcome = case_outcome(&ended.ending, &ended.scores);
        let hash = hashes.get(ended.trial.case.as_str()).copied();
        side.add(&SideTrial { trial: &ended.trial.id, case, hash, scores: &ended.scores, outcome });
    })?;
    Ok(side)
}
