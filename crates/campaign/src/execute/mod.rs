//! Executes a [`PreparedRun`]: runs, stores and scores every trial, judges the gates and returns a [`RunSummary`].

mod attacker_tries;
mod case_driver;
mod preflight;
mod queue;
mod scored_trial;
mod script_trial;
mod trial_runner;

use crate::aggregate::{RunAggregator, TrialList};
use crate::prepare::PreparedRun;
use crate::run_store::{RunHandle, RunStoreError, timestamp};
use crate::summary::{EarlyStop, RunSummary};
use crate::watcher::{RunWatcher, WatchedTrial, WatcherDecision};
pub(crate) use case_driver::harness_abort;
use model::{CaseOutcome, Money, RunRecord};
pub(crate) use preflight::{broken_agent, preflight_trials};
use queue::TrialQueue;
use score::outcome::case_outcome;
pub(crate) use scored_trial::{ScoredTrial, VariantPlayer};
pub(crate) use script_trial::{ScriptedTrial, play_script};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use store::{EndedTrial, JournalWrite, StoreError};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;
pub(crate) use trial_runner::{TrialOutput, TrialRunner};

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
    let runner = Arc::new(TrialRunner::new(prepared.clone(), handle.key()));
    let first = preflight_trials(prepared, handle);
    let aggregator = RunAggregator::new(plan.workspace(), TrialList::Outline(plan.outline()), plan.spec().settings.claim);
    let mut run = ActiveRun {
        aggregator: if plan.spec().settings.stop_when_decided { aggregator.with_planned_cases(plan.cases()) } else { aggregator },
        queue: Arc::new(TrialQueue::new(prepared, handle, &first)),
        waiting: BTreeMap::new(),
        failed: 0,
        rows: 0,
        prepared,
        handle,
    };
    // Trials of an earlier process may already be enough to stop.
    let mut state = run.aggregate_in_order(watcher).await?;
    for n in first {
        if !matches!(state, RunState::Running) {
            break;
        }
        let interrupted = async {
            tokio::select! { () = cancel.cancelled() => {}, () = prepared.outages().wait() => {} }
        };
        let output = tokio::select! {
            biased;
            () = interrupted => None,
            output = runner.run_trial(n) => Some(output),
        };
        state = match output {
            None => RunState::Interrupted,
            Some(output) => {
                let broken = broken_agent(&output.ended, output.row.output.as_ref());
                run.keep(output, watcher).await?;
                let next = run.aggregate_in_order(watcher).await?;
                broken.map_or(next, RunState::Stopped)
            }
        };
    }
    if matches!(state, RunState::Running) {
        state = run.play(&runner, watcher, &cancel).await?;
    }
    wait_for_commit(handle).await?;
    run.finish(state).await
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
    /// Failed trials among those aggregated.
    failed: u64,
    /// Rows written by this process.
    rows: u64,
    prepared: &'r PreparedRun,
    handle: &'r RunHandle,
}

/// Progress of a run.
#[derive(Debug)]
enum RunState {
    Running,
    /// Cancelled, or the vendor is out of service.
    Interrupted,
    /// Stopped by the watcher.
    Watched,
    Stopped(EarlyStop),
}

impl ActiveRun<'_> {
    /// Runs the trials that are left, several at once.
    async fn play(
        &mut self,
        runner: &Arc<TrialRunner>,
        watcher: &mut dyn RunWatcher,
        cancel: &CancellationToken,
    ) -> Result<RunState, StoreError> {
        let plan = self.prepared.plan();
        let concurrency = plan.spec().options.concurrency;
        let (sender, mut results) = mpsc::channel(2 * concurrency.max(128));
        let mut workers = self.queue.clone().start_workers(runner, concurrency, &sender);
        drop(sender);
        let mut state = RunState::Running;
        while matches!(state, RunState::Running) && self.aggregator.next() < plan.outline().len() {
            let output = tokio::select! {
                biased;
                () = cancel.cancelled() => None,
                () = self.prepared.outages().wait() => None,
                result = results.recv() => result,
            };
            state = match output {
                None => RunState::Interrupted,
                Some(output) => {
                    self.keep(output, watcher).await?;
                    self.aggregate_in_order(watcher).await?
                }
            };
        }
        workers.shutdown().await;
        Ok(state)
    }

    /// Stores a finished trial.
    async fn keep(&mut self, output: TrialOutput, watcher: &mut dyn RunWatcher) -> Result<(), StoreError> {
        if let Some(why) = self.handle.journal().failure() {
            // Stops at once: the store itself may have broken the trial.
            return Err(StoreError::Journal(why));
        }
        let TrialOutput { row, ended } = output;
        watcher.on_trial_ended(&watched_trial(&ended));
        self.handle.journal().write(JournalWrite::Trial(Box::new(row)));
        self.waiting.insert(ended.n, ended);
        self.rows += 1;
        if self.rows.is_multiple_of(COMMIT_EVERY_ROWS) {
            wait_for_commit(self.handle).await?;
        }
        Ok(())
    }

    /// Aggregates finished trials in plan order up to the first gap. Only this stops a run, so that stopping does not depend on timing.
    async fn aggregate_in_order(&mut self, watcher: &mut dyn RunWatcher) -> Result<RunState, StoreError> {
        loop {
            let next = self.aggregator.next();
            let Some(ended) = self.take(next).await? else { return Ok(RunState::Running) };
            let outcome = self.aggregator.add(&ended);
            self.queue.release_permit(next);
            if watcher.on_trial_in_order(&watched_trial(&ended)) == WatcherDecision::Stop {
                return Ok(RunState::Watched);
            }
            self.failed += u64::from(outcome == CaseOutcome::Failed);
            let is_last = self.aggregator.next() == self.prepared.plan().outline().len();
            if self.prepared.plan().spec().settings.max_fail.is_some_and(|most| self.failed >= most) && !is_last {
                return Ok(RunState::Stopped(EarlyStop::MaxFail { failed: self.failed }));
            }
            if !is_last && self.aggregator.is_decided() {
                return Ok(RunState::Stopped(EarlyStop::Decided));
            }
        }
    }

    /// Judges the gates and stores the verdicts.
    async fn finish(mut self, state: RunState) -> Result<RunSummary, StoreError> {
        let (key, position) = (self.handle.key(), self.aggregator.next());
        // Trials beyond the last one that counts have ended only because others were slow.
        let is_final = matches!(state, RunState::Watched | RunState::Stopped(EarlyStop::MaxFail { .. } | EarlyStop::Decided));
        match state {
            RunState::Running | RunState::Interrupted | RunState::Stopped(EarlyStop::Preflight { .. } | EarlyStop::NoWorker(_)) => {
                self.aggregate_leftovers().await?
            }
            RunState::Stopped(EarlyStop::MaxFail { .. } | EarlyStop::Decided) => {
                self.handle.query_store(move |store| store.remove_trials_from(key, position)).await??;
            }
            RunState::Watched => {}
        }
        let stop = if let RunState::Stopped(stop) = state { Some(stop) } else { None };
        let summary = RunSummary { stop, ..self.aggregator.finish() };
        set_verdicts(self.prepared, self.handle, &summary, is_final).await?;
        Ok(summary)
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

/// Stores the verdicts of a run, and its record if no trial of it is left.
pub(crate) async fn set_verdicts(
    prepared: &PreparedRun,
    handle: &RunHandle,
    summary: &RunSummary,
    is_final: bool,
) -> Result<(), StoreError> {
    let record = (is_final || summary.is_complete()).then(|| summary.record.clone());
    let (key, verdicts, at) = (handle.key(), summary.verdicts.clone(), timestamp(prepared.clock()));
    handle.query_store(move |store| store.set_verdicts(key, &verdicts, record.as_ref(), &at)).await?
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
    Ok(Money::from_nanos(handle.query_store(move |store| store.total_spending(key)).await??))
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
