//! Time limit of an external agent in one trial, in real time: the token usage of other people's programs is unknown.

use crate::clock::{Clock, Stopwatch};
use crate::subjects::SubjectFault;
use model::transcript::LimitKind;
use std::time::Duration;

/// Timer of one trial; it starts with the first move.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AgentTimer {
    clock: Clock,
    limit: Duration,
    since_start: Option<Stopwatch>,
    /// Time of the last move since the start.
    last_move: Duration,
}

impl AgentTimer {
    pub(crate) fn new(clock: Clock, limit: Duration) -> Self {
        Self { clock, limit, since_start: None, last_move: Duration::ZERO }
    }

    /// Waits for the next move.
    ///
    /// # Errors
    /// If the time of the trial is over, and the fault of the move.
    pub(crate) async fn limit<T>(&mut self, next: impl Future<Output = Result<T, SubjectFault>>) -> Result<T, SubjectFault> {
        let clock = self.clock;
        let since_start = *self.since_start.get_or_insert_with(|| clock.stopwatch());
        match tokio::time::timeout(self.limit.saturating_sub(since_start.elapsed()), next).await {
            Ok(next) => {
                self.last_move = since_start.elapsed();
                next
            }
            // No move in the second half of its time: hung rather than slow.
            Err(_) if self.last_move <= self.limit / 2 => Err(SubjectFault::Hung),
            Err(_) => Err(SubjectFault::OverLimit(LimitKind::Time)),
        }
    }
}
