//! Progress of a run that is under way, as server-sent events.

use super::ViewerState;
use axum::response::sse::Event;
use futures::Stream;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use store::StoredRun;

const PAUSE: Duration = Duration::from_secs(1);
/// Events of one connection; the browser connects again.
const MAX_EVENTS: u32 = 3_600;

/// Returns the progress of a run once a second, until it is complete.
pub(super) fn progress(state: Arc<ViewerState>, run: i64) -> impl Stream<Item = Result<Event, Infallible>> {
    futures::stream::unfold((state, 0_u32, false), move |(state, n, is_over)| async move {
        if is_over || n >= MAX_EVENTS {
            return None;
        }
        if n > 0 {
            tokio::time::sleep(PAUSE).await;
        }
        let reading = state.clone();
        let read = tokio::task::spawn_blocking(move || reading.stores.with(|store| store.run(run))).await;
        let Ok(Ok(Some(run))) = read else { return None };
        let is_over = run.record.is_some();
        let event =
            if is_over { Event::default().event("complete").data("complete") } else { Event::default().event("progress").data(text(&run)) };
        Some((Ok(event), (state, n + 1, is_over)))
    })
}

fn text(run: &StoredRun) -> String {
    let failed = run.finished.saturating_sub(run.passed + run.aborted);
    format!(
        "{} of {} trials ended, {} passed, {failed} failed or unjudged, {} aborted, {:.4} USD spent",
        run.finished,
        run.planned,
        run.passed,
        run.aborted,
        run.spent as f64 / 1e9
    )
}
