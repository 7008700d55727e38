//! Progress of a run that is under way, as server-sent events.

use super::ViewerState;
use crate::pages::duration;
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
    futures::stream::unfold((state, 0_u32, false, None), move |(state, n, is_over, first)| async move {
        if is_over || n >= MAX_EVENTS {
            return None;
        }
        if n > 0 {
            tokio::time::sleep(PAUSE).await;
        }
        let reading = state.clone();
        let read = tokio::task::spawn_blocking(move || reading.stores.with(|pooled| pooled.store.run(run))).await;
        let Ok(Ok(Some(run))) = read else { return None };
        let is_over = run.record.is_some();
        let first: u64 = first.unwrap_or(run.finished);
        let event = if is_over {
            Event::default().event("complete").data("complete")
        } else {
            Event::default().event("progress").data(text(&run, run.finished.saturating_sub(first), n))
        };
        Some((Ok(event), (state, n + 1, is_over, Some(first))))
    })
}

/// Returns the progress in words. `ended` trials of it ended in the last `seconds`, from which the rest of the time follows.
fn text(run: &StoredRun, ended: u64, seconds: u32) -> String {
    let failed = run.finished.saturating_sub(run.passed + run.aborted);
    let left = run.planned.saturating_sub(run.finished);
    let rest = if ended == 0 || left == 0 {
        String::new()
    } else {
        format!(", about {} left", duration(left.saturating_mul(u64::from(seconds)).saturating_mul(1_000_000) / ended))
    };
    format!(
        "{} of {} trials ended, {} passed, {failed} failed or unjudged, {} aborted, {:.4} USD spent{rest}",
        run.finished,
        run.planned,
        run.passed,
        run.aborted,
        run.spent as f64 / 1e9
    )
}
