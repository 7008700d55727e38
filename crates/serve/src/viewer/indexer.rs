//! Thread that keeps the search index up to date while the viewer runs.

use super::ViewerState;
use std::sync::Weak;
use std::time::Duration;

/// Trials that are indexed between two looks at the server.
const STEP: usize = 1_000;
const PAUSE: Duration = Duration::from_secs(2);

/// Starts the thread, which ends with the server.
pub(super) fn start_indexer(state: Weak<ViewerState>) -> std::io::Result<()> {
    let thread = std::thread::Builder::new().name("search index".into());
    thread.spawn(move || {
        while let Some(state) = state.upgrade() {
            let covered = state.stores.with(|pooled| state.stores.fill_index(pooled, STEP));
            drop(state);
            // A failure is tried again; pages say meanwhile that the index is behind.
            let is_behind = matches!(covered, Ok(Some(coverage)) if coverage.behind > 0);
            if !is_behind {
                std::thread::sleep(PAUSE);
            }
        }
    })?;
    Ok(())
}
