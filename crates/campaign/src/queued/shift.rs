//! Work with one lease: claims trials, plays several at once and stores each when it ends.

use super::worker_setup::WorkerSetup;
use crate::execute::{TrialOutput, TrialRunner};
use run::providers::{OutageMonitor, VendorOutage};
use run::{Clock, Stopwatch};
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;
use store::StoreError;
use store::postgres::queue::{ClaimAnswer, ClaimedJob, FinishAnswer, QueueWriter};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval, sleep};
use tokio_util::sync::CancellationToken;

/// Most trials of one claim. Short trials are claimed in large portions, long ones a few at a time, so that all workers end together.
const MAX_CLAIM: usize = 256;
/// A portion that lasts less than this is followed by one of twice the size, and one that lasts four times as long by half.
const CLAIM_SPAN: Duration = Duration::from_millis(150);
/// Most finished trials that wait for their commit.
const MAX_UNCOMMITTED: usize = 512;
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// Time between two looks at the lease.
const LEASE_LOOK: Duration = Duration::from_millis(500);

/// End of the work with one lease.
#[derive(Debug)]
pub(super) enum ShiftEnd {
    /// No trial was free for a while.
    Idle,
    Closed,
    Drained,
    LeaseLost,
    Outage(VendorOutage),
}

pub(super) struct WorkShift {
    runner: Arc<TrialRunner>,
    writer: QueueWriter,
    subjects: Vec<u64>,
    concurrency: usize,
    patience: Duration,
    claimed: VecDeque<ClaimedJob>,
    /// Positions of trials that are claimed and not committed.
    held: BTreeSet<u64>,
    running: JoinSet<TrialOutput>,
    commits: (mpsc::UnboundedSender<CommitResult>, mpsc::UnboundedReceiver<CommitResult>),
    uncommitted: usize,
    batch: usize,
    is_closed: bool,
}

/// Position of a trial, and the result of its commit.
type CommitResult = (u64, Result<FinishAnswer, StoreError>);
type PendingClaim = oneshot::Receiver<Result<ClaimAnswer, StoreError>>;

impl WorkShift {
    pub(super) fn new(runner: Arc<TrialRunner>, writer: QueueWriter, setup: &WorkerSetup, subjects: &[u64]) -> Self {
        let concurrency = setup.concurrency.max(1);
        Self {
            runner,
            writer,
            subjects: subjects.to_vec(),
            concurrency,
            patience: setup.patience,
            claimed: VecDeque::new(),
            held: BTreeSet::new(),
            running: JoinSet::new(),
            commits: mpsc::unbounded_channel(),
            uncommitted: 0,
            batch: concurrency,
            is_closed: false,
        }
    }

    /// Works until there is nothing to do. Trials in flight are dropped if the lease is lost or a vendor is out of service; their calls are
    /// charged when the lease ends.
    pub(super) async fn run(mut self, outages: &OutageMonitor, clock: Clock, drain: &CancellationToken) -> Result<ShiftEnd, StoreError> {
        let end = self.play(outages, clock, drain).await;
        self.running.shutdown().await;
        match end {
            Err(StoreError::LeaseLost) => Ok(ShiftEnd::LeaseLost),
            end => end,
        }
    }

    async fn play(&mut self, outages: &OutageMonitor, clock: Clock, drain: &CancellationToken) -> Result<ShiftEnd, StoreError> {
        let mut looks = interval(LEASE_LOOK);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut pending: Option<PendingClaim> = None;
        let (mut pause, mut idle, mut last_claim) = (FIRST_PAUSE, clock.stopwatch(), clock.stopwatch());
        let (mut resting, mut is_look) = (false, false);
        loop {
            if drain.is_cancelled() || self.is_closed {
                // Trials that were not started return to the queue with the lease.
                self.claimed.clear();
            }
            let may_claim = !drain.is_cancelled() && !self.is_closed;
            self.start_trials();
            if self.is_at_rest() && pending.is_none() {
                if drain.is_cancelled() {
                    return Ok(ShiftEnd::Drained);
                }
                if self.is_closed {
                    return Ok(ShiftEnd::Closed);
                }
                if idle.elapsed() >= self.patience {
                    return Ok(ShiftEnd::Idle);
                }
            }
            if may_claim && pending.is_none() && !resting && self.claimed.len() <= self.batch / 2 {
                (pending, is_look) = (Some(self.claim(self.batch)), false);
            }
            tokio::select! {
                biased;
                () = outages.wait() => return outages.outage().map_or(Ok(ShiftEnd::Closed), |outage| Ok(ShiftEnd::Outage(outage))),
                Some((n, result)) = self.commits.1.recv(), if self.uncommitted > 0 => {
                    self.uncommitted -= 1;
                    self.held.remove(&n);
                    // A trial of a run that was stopped is dropped.
                    let (FinishAnswer::Stored | FinishAnswer::Withdrawn) = result?;
                }
                Some(ended) = self.running.join_next(), if !self.running.is_empty() => self.keep(ended)?,
                answer = answer_of(&mut pending), if pending.is_some() => {
                    pending = None;
                    let answer = answer?;
                    self.is_closed = answer.is_closed;
                    let is_new = self.take(answer);
                    // A look claims nothing and says nothing about free trials.
                    resting = !is_new && !is_look;
                    if is_new {
                        (pause, idle) = (FIRST_PAUSE, clock.stopwatch());
                        self.adapt(&mut last_claim, clock);
                    }
                }
                () = sleep(pause), if resting => {
                    resting = false;
                    pause = (2 * pause).min(LONGEST_PAUSE);
                }
                () = drain.cancelled(), if !drain.is_cancelled() => {}
                _ = looks.tick() => {
                    if let Some(failure) = self.writer.failure() {
                        return Err(failure);
                    }
                    if may_claim && pending.is_none() && !resting {
                        // Claims nothing, but says whether the run was paused.
                        (pending, is_look) = (Some(self.claim(0)), true);
                    }
                }
            }
            if !self.running.is_empty() {
                idle = clock.stopwatch();
            }
        }
    }

    fn is_at_rest(&self) -> bool {
        self.claimed.is_empty() && self.running.is_empty() && self.uncommitted == 0
    }

    fn start_trials(&mut self) {
        while self.running.len() < self.concurrency && self.uncommitted < MAX_UNCOMMITTED {
            let Some(job) = self.claimed.pop_front() else { return };
            let runner = self.runner.clone();
            self.running.spawn(async move { runner.run_trial(job.n).await });
        }
    }

    fn claim(&self, most: usize) -> PendingClaim {
        let (sender, receiver) = oneshot::channel();
        self.writer.claim(&self.subjects, most as u64, move |answer| drop(sender.send(answer)));
        receiver
    }

    /// Takes over claimed trials, and those of a claim whose answer was lost. Returns whether there were any.
    fn take(&mut self, answer: ClaimAnswer) -> bool {
        let before = self.claimed.len();
        for job in answer.jobs.into_iter().chain(answer.held) {
            if self.held.insert(job.n) {
                self.claimed.push_back(job);
            }
        }
        self.claimed.len() > before
    }

    /// Chooses the size of the next portion by the time that the last one lasted.
    fn adapt(&mut self, last_claim: &mut Stopwatch, clock: Clock) {
        self.batch = next_batch(self.batch, last_claim.elapsed(), self.concurrency);
        *last_claim = clock.stopwatch();
    }

    /// Stores a trial that has ended.
    fn keep(&mut self, ended: Result<TrialOutput, tokio::task::JoinError>) -> Result<(), StoreError> {
        if let Some(failure) = self.writer.failure() {
            // Stops at once: the store itself may have broken the trial.
            return Err(failure);
        }
        let output = ended.map_err(|error| StoreError::Journal(format!("a trial ended without a result: {error}")))?;
        let (n, committed) = (output.row.n, self.commits.0.clone());
        self.uncommitted += 1;
        self.writer.finish(output.row, move |result| drop(committed.send((n, result))));
        Ok(())
    }
}

fn next_batch(batch: usize, lasted: Duration, concurrency: usize) -> usize {
    if lasted < CLAIM_SPAN {
        (2 * batch).min(MAX_CLAIM.max(concurrency))
    } else if lasted > 4 * CLAIM_SPAN {
        (batch / 2).max(concurrency.div_ceil(2))
    } else {
        batch
    }
}

async fn answer_of(pending: &mut Option<PendingClaim>) -> Result<ClaimAnswer, StoreError> {
    let ended = || StoreError::Journal("the thread of the queue ended".into());
    match pending {
        Some(receiver) => receiver.await.unwrap_or_else(|_| Err(ended())),
        None => Err(ended()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn portions_grow_with_short_trials_and_shrink_with_long_ones() {
        let (short, long) = (Duration::from_millis(10), Duration::from_secs(5));
        let grown = (0..10).fold(8, |batch, _| next_batch(batch, short, 8));
        assert_eq!(grown, MAX_CLAIM);
        let shrunk = (0..10).fold(grown, |batch, _| next_batch(batch, long, 8));
        assert_eq!(shrunk, 4);
        assert_eq!(next_batch(8, CLAIM_SPAN, 8), 8);
        assert_eq!(next_batch(1, long, 1), 1, "a worker always asks for a trial");
    }
}
