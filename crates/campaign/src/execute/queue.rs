//! Queue of trials to run, and its workers.

use super::trial_runner::{TrialOutput, TrialRunner};
use crate::prepare::PreparedRun;
use crate::run_store::RunHandle;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;

/// Maximum number of finished trials that wait for an earlier one.
const MAX_TRIALS_AHEAD: usize = 4096;

pub(super) struct TrialQueue {
    next: AtomicU64,
    len: u64,
    ended: BTreeSet<u64>,
    /// Permits for trials started but not yet aggregated.
    ahead: Semaphore,
}

impl TrialQueue {
    /// Returns the queue of all trials except those that ended before and those in `first`, which are run outside of it.
    pub(super) fn new(prepared: &PreparedRun, handle: &RunHandle, first: &[u64]) -> Self {
        let plan = prepared.plan();
        let ahead = Semaphore::new(MAX_TRIALS_AHEAD.max(2 * plan.spec().options.concurrency));
        Self { next: AtomicU64::new(0), len: plan.outline().len(), ended: handle.ended().iter().chain(first).copied().collect(), ahead }
    }

    async fn take(&self) -> Option<u64> {
        self.ahead.acquire().await.ok()?.forget();
        loop {
            let n = self.next.fetch_add(1, Ordering::Relaxed);
            if n >= self.len {
                return None;
            }
            if !self.ended.contains(&n) {
                return Some(n);
            }
        }
    }

    /// Releases the permit of an aggregated trial.
    pub(super) fn release_permit(&self, n: u64) {
        if !self.ended.contains(&n) {
            self.ahead.add_permits(1);
        }
    }

    /// Starts the workers. They stop when the queue is empty or the receiver is dropped.
    pub(super) fn start_workers(
        self: Arc<Self>,
        runner: &Arc<TrialRunner>,
        concurrency: usize,
        results: &mpsc::Sender<TrialOutput>,
    ) -> JoinSet<()> {
        let mut workers = JoinSet::new();
        for _ in 0..concurrency.max(1) {
            let (queue, runner, results) = (self.clone(), runner.clone(), results.clone());
            workers.spawn(async move {
                while let Some(n) = queue.take().await {
                    if results.send(runner.run_trial(n).await).await.is_err() {
                        return;
                    }
                }
            });
        }
        workers
    }
}
