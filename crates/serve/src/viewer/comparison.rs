//! Compares a subject of one run with a subject of another.

use super::ViewerState;
use super::store_pool::PooledStore;
use score::pairing::{RunComparison, RunNoise, compare_readings};
use store::{StoreError, StoredRun};

pub(super) fn compare_runs(state: &ViewerState, pooled: &PooledStore, runs: [(&StoredRun, &str); 2]) -> Result<RunComparison, StoreError> {
    let [before, after] = runs.map(|(run, subject)| state.side(pooled, run, subject));
    let (before, after) = (before?, after?);
    let noise = if before.is_sampled || after.is_sampled { RunNoise::Sampled } else { RunNoise::None };
    Ok(compare_readings(&state.workspace.gates, &before.readings, &after.readings, noise))
}
