//! Executes a [`PreparedRun`]: runs, stores and scores every trial, judges the gates and returns a [`RunSummary`].

mod queue;
mod trial_runner;

use crate::aggregate::{RunAggregator, TrialList};
use crate::prepare::PreparedRun;
use crate::run_store::{RunHandle, RunStoreError, timestamp};
use crate::summary::RunSummary;
use crate::watcher::{RunWatcher, WatchedTrial, WatcherDecision};
use model::{Money, RunRecord};
use queue::TrialQueue;
use score::outcome::case_outcome;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use store::{EndedTrial, JournalWrite, StoreError};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use trial_runner::TrialOutput;

/// Rows written before the run waits for a commit.
const COMMIT_EVERY_ROWS: u64 = 512;

/// Runs the plan. Results depend neither on concurrency nor on the order in which trials end. A run that is cancelled or whose vendor
/// is out of service stores finished trials and drops those in flight.
pub async fn execute(
    prepared: &PreparedRun,
    handle: &RunHandle,
    watcher: &mut dyn RunWatcher,
    cancel: CancellationToken,
) -> Result<RunSummary, StoreError> {
    prepared.funds().connect(handle.open_run(), spent_before(handle).await?)?;
    let plan = prepared.plan();
    let mut run = ActiveRun {
        aggregator: RunAggregator::new(plan.workspace(), TrialList::Outline(plan.outline()), plan.spec().settings.claim),
        queue: Arc::new(TrialQueue::new(prepared, handle)),
        waiting: BTreeMap::new(),
        handle,
    };
    let (sender, mut results) = mpsc::channel(2 * plan.spec().options.concurrency.max(128));
    let mut workers = run.queue.clone().start_workers(prepared, handle, &sender);
    drop(sender);
    let (mut rows, mut stopped) = (0_u64, false);
    while !stopped {
        stopped = run.aggregate_in_order(watcher).await? == WatcherDecision::Stop;
        if stopped || run.aggregator.next() == plan.outline().len() {
            break;
        }
        let TrialOutput { row, ended } = tokio::select! {
            biased;
            () = cancel.cancelled() => break,
            () = prepared.outages().wait() => break,
            result = results.recv() => match result {
                Some(result) => result,
                None => break,
            },
        };
        if let Some(why) = handle.journal().failure() {
            // Stops at once: the store itself may have broken the trial.
            return Err(StoreError::Journal(why));
        }
        watcher.on_trial_ended(&watched_trial(&ended));
        handle.journal().write(JournalWrite::Trial(Box::new(row)));
        run.waiting.insert(ended.n, ended);
        rows += 1;
        if rows.is_multiple_of(COMMIT_EVERY_ROWS) {
            wait_for_commit(handle).await?;
        }
    }
    workers.shutdown().await;
    wait_for_commit(handle).await?;
    if !stopped {
        run.aggregate_leftovers().await?;
    }
    let summary = run.aggregator.finish();
    let record = (stopped || summary.is_complete()).then(|| summary.record.clone());
    let (key, verdicts, at) = (handle.key(), summary.verdicts.clone(), timestamp(prepared.clock()));
    handle.query_store(move |store| store.set_verdicts(key, &verdicts, record.as_ref(), &at)).await??;
    Ok(summary)
}

/// Runs the plan and returns the whole record; nothing is stored on disk.
pub async fn execute_in_memory(prepared: &PreparedRun, watcher: &mut dyn RunWatcher) -> Result<RunRecord, RunStoreError> {
    let handle = RunHandle::in_memory(prepared)?;
    execute(prepared, &handle, watcher, CancellationToken::new()).await?;
    let key = handle.key();
    let record = handle.query_store(move |store| {
        let run = store.run(key)?.ok_or_else(|| StoreError::Journal("the run was removed".into()))?;
        store.record(&run)
    });
    Ok(record.await??)
}

/// Run in progress.
struct ActiveRun<'r> {
    aggregator: RunAggregator<'r>,
    queue: Arc<TrialQueue>,
    /// Finished trials that wait for an earlier one.
    waiting: BTreeMap<u64, EndedTrial>,
    handle: &'r RunHandle,
}

impl ActiveRun<'_> {
    /// Aggregates finished trials in plan order up to the first gap.
    async fn aggregate_in_order(&mut self, watcher: &mut dyn RunWatcher) -> Result<WatcherDecision, StoreError> {
        loop {
            let next = self.aggregator.next();
            let Some(ended) = self.take(next).await? else { return Ok(WatcherDecision::Continue) };
            self.aggregator.add(&ended);
            self.queue.release_permit(next);
            if watcher.on_trial_in_order(&watched_trial(&ended)) == WatcherDecision::Stop {
                return Ok(WatcherDecision::Stop);
            }
        }
    }

    /// Aggregates the remaining finished trials of an interrupted run, in plan order with gaps.
    async fn aggregate_leftovers(&mut self) -> Result<(), StoreError> {
        let before = self.handle.ended().range(self.aggregator.next()..).copied();
        let left: BTreeSet<u64> = self.waiting.keys().copied().chain(before).collect();
        for n in left {
            if let Some(ended) = self.take(n).await? {
                self.aggregator.add(&ended);
            }
        }
        Ok(())
    }

    /// Returns the trial with this index if it ended, in this process or an earlier one.
    async fn take(&mut self, n: u64) -> Result<Option<EndedTrial>, StoreError> {
        if self.handle.ended().contains(&n) && !self.waiting.contains_key(&n) {
            self.waiting.extend(read_stored_trials(self.handle, n).await?);
        }
        Ok(self.waiting.remove(&n))
    }
}

/// Reads a batch of trials, starting at this index, that an earlier process finished.
async fn read_stored_trials(handle: &RunHandle, from: u64) -> Result<Vec<(u64, EndedTrial)>, StoreError> {
    const BATCH_SIZE: u64 = 256;
    let key = handle.key();
    let found = handle.query_store(move |store| {
        let mut found = vec![];
        store.for_each_ended_within(key, from..from + BATCH_SIZE, |ended| found.push((ended.n, ended))).map(|()| found)
    });
    let mut found = found.await??;
    // Aborted trials have a row, but are run again.
    found.retain(|(n, _)| handle.ended().contains(n));
    Ok(found)
}

/// Returns the money that earlier processes spent on this run.
async fn spent_before(handle: &RunHandle) -> Result<Money, StoreError> {
    let key = handle.key();
    let run = handle.query_store(move |store| store.run(key)).await??;
    Ok(run.map_or(Money::ZERO, |run| Money::from_nanos(run.spent)))
}

/// Waits until everything written so far is committed.
async fn wait_for_commit(handle: &RunHandle) -> Result<(), StoreError> {
    let (sender, receiver) = oneshot::channel();
    handle.journal().write_with_callback(JournalWrite::Barrier, Box::new(move |result| drop(sender.send(result))));
    receiver.await.unwrap_or_else(|_| Err(StoreError::Journal("the journal thread ended".into())))
}

fn watched_trial(ended: &EndedTrial) -> WatchedTrial<'_> {
    WatchedTrial { trial: &ended.trial, ending: &ended.ending, outcome: case_outcome(&ended.ending, &ended.scores) }
}
