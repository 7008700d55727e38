//! Thread that keeps the search index and the reports of runs up to date while the viewer runs.

use super::ViewerState;
use super::routes::has_attacks;
use super::store_pool::PooledStore;
use std::collections::BTreeSet;
use std::sync::Weak;
use std::time::Duration;
use store::StoreError;

/// Trials that are indexed between two looks at the server.
const STEP: usize = 1_000;
/// Runs whose reports are made between two looks.
const RUNS: usize = 4;
/// Runs that are read at once for their records.
const PAGE: usize = 20;
const PAUSE: Duration = Duration::from_secs(2);

/// Starts the thread, which ends with the server.
pub(super) fn start_indexer(state: Weak<ViewerState>) -> std::io::Result<()> {
    let thread = std::thread::Builder::new().name("search index".into());
    thread.spawn(move || {
        let mut reported = BTreeSet::new();
        while let Some(state) = state.upgrade() {
            let step = state.stores.with(|pooled| {
                let coverage = state.stores.fill_index(pooled, STEP)?;
                let has_made = make_reports(&state, pooled, &mut reported)?;
                Ok(has_made || coverage.is_some_and(|coverage| coverage.behind > 0))
            });
            drop(state);
            // A failure is tried again; pages say meanwhile that the index is behind.
            if !matches!(step, Ok(true)) {
                std::thread::sleep(PAUSE);
            }
        }
    })?;
    Ok(())
}

/// Makes the reports of a few complete runs, the newest first. `done` has the ids of those that need no further look.
fn make_reports(state: &ViewerState, pooled: &PooledStore, done: &mut BTreeSet<String>) -> Result<bool, StoreError> {
    let mut made = 0;
    if pooled.index.is_none() {
        return Ok(false);
    }
    let complete = pooled.store.complete_runs()?;
    done.retain(|id| complete.contains_key(id));
    let mut left: Vec<(i64, String)> = complete.into_iter().filter(|(id, _)| !done.contains(id)).map(|(id, run)| (run, id)).collect();
    left.sort_unstable_by(|a, b| b.cmp(a));
    let has_more = left.len() > PAGE;
    for (run, id) in left.into_iter().take(PAGE) {
        if made >= RUNS {
            return Ok(true);
        }
        if let Some(run) = pooled.store.run(run)? {
            let attacked = has_attacks(state, &run);
            // A run that cannot be read has no reports; its pages say so.
            made += usize::from(state.make_reports(pooled, &run, attacked).unwrap_or(false));
        }
        done.insert(id);
    }
    Ok(made > 0 || has_more)
}
