//! Recognises calls that a client sends at once, which are one move of the agent.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Time that the first call of a move waits for others. The parallel calls of a client arrive within a few milliseconds; its next move
/// comes only after an answer.
const WINDOW: Duration = Duration::from_millis(20);

#[derive(Debug, Default)]
pub(super) struct ParallelCalls {
    in_flight: AtomicUsize,
}

/// Call in flight. Further calls join its move until all have been dropped.
#[derive(Debug)]
pub(super) struct JoinedCall<'c> {
    calls: &'c ParallelCalls,
    first: bool,
}

impl ParallelCalls {
    /// Joins the move in flight, or starts one and waits for others to join.
    pub(super) async fn join(&self) -> JoinedCall<'_> {
        let first = self.in_flight.fetch_add(1, Ordering::AcqRel) == 0;
        let joined = JoinedCall { calls: self, first };
        if first {
            tokio::time::sleep(WINDOW).await;
        }
        joined
    }
}

impl JoinedCall<'_> {
    pub(super) fn is_first(&self) -> bool {
        self.first
    }
}

impl Drop for JoinedCall<'_> {
    fn drop(&mut self) {
        self.calls.in_flight.fetch_sub(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn calls_at_once_are_one_move() {
        let calls = ParallelCalls::default();
        let joined = futures::future::join_all((0..15).map(|_| calls.join())).await;
        assert_eq!(joined.iter().filter(|joined| joined.is_first()).count(), 1);
        drop(joined);
        assert!(calls.join().await.is_first());
        assert!(calls.join().await.is_first());
    }
}
