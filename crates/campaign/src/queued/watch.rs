//! Watches a published run: aggregates trials in plan order as they end, takes back the leases of lost workers, and ends the run.

use super::ask::ask;
use super::published_run::PublishedRun;
use super::stranded::find_stranded;
use crate::aggregate::{RunAggregator, TrialList};
use crate::execute::{broken_agent, set_verdicts};
use crate::prepare::PreparedRun;
use crate::run_store::RunHandle;
use crate::summary::{EarlyStop, RunSummary, StrandedTrials};
use crate::watcher::{RunWatcher, WatchedTrial, WatcherDecision};
use model::{CaseOutcome, Money};
use run::providers::VendorOutage;
use run::{BillingDoubts, Stopwatch};
use std::time::Duration;
use store::postgres::queue::{QueueProgress, QueueState};
use store::{EndedTrial, StoreError};
use tokio_util::sync::CancellationToken;

/// Pause between two looks at the queue.
const LOOK_INTERVAL: Duration = Duration::from_millis(200);
/// Trials read at once.
const BATCH_SIZE: u64 = 512;
/// Trials that workers may claim beyond the last one in order, in a run that may stop early.
const MAX_TRIALS_AHEAD: u64 = 1024;
/// Time without a finished trial before the subjects of live workers are compared with what is left.
const QUIET_TIME: Duration = Duration::from_secs(1);

/// Watches a run to its end. A watcher that is cancelled pauses the run: workers finish what they have and claim no more.
///
/// # Errors
/// If the store cannot be used, or lacks a trial that has ended.
pub async fn watch(
    prepared: &PreparedRun,
    handle: &RunHandle,
    published: &PublishedRun,
    watcher: &mut dyn RunWatcher,
    (cancel, worker_wait): (CancellationToken, Duration),
) -> Result<RunSummary, StoreError> {
    let plan = prepared.plan();
    let settings = &plan.spec().settings;
    let aggregator = RunAggregator::new(plan.workspace(), TrialList::Outline(plan.outline()), settings.claim);
    let mut watch = QueueWatch {
        aggregator: if settings.stop_when_decided { aggregator.with_planned_cases(plan.cases()) } else { aggregator },
        may_stop: settings.stop_when_decided || settings.max_fail.is_some(),
        all_queued: published.first.is_empty(),
        failed: 0,
        claim_limit: 0,
        quiet: QuietTime { finished: 0, since: prepared.clock().stopwatch(), stranded: None },
        worker_wait,
        prepared,
        handle,
        published,
    };
    let end = watch.follow(watcher, &cancel).await?;
    watch.finish(end).await
}

struct QueueWatch<'r> {
    aggregator: RunAggregator<'r>,
    may_stop: bool,
    /// False while the first trials of external agents are played.
    all_queued: bool,
    /// Failed trials among those aggregated.
    failed: u64,
    claim_limit: u64,
    quiet: QuietTime,
    worker_wait: Duration,
    prepared: &'r PreparedRun,
    handle: &'r RunHandle,
    published: &'r PublishedRun,
}

/// Time since the last trial ended.
struct QuietTime {
    finished: u64,
    since: Stopwatch,
    /// Start of the time in which no worker can play what is left.
    stranded: Option<Stopwatch>,
}

/// End of a watch.
enum WatchEnd {
    Complete,
    /// Cancelled, or a vendor is out of service.
    Interrupted,
    /// Stopped by the watcher.
    Watched,
    Stopped(EarlyStop),
}

impl QueueWatch<'_> {
    async fn follow(&mut self, watcher: &mut dyn RunWatcher, cancel: &CancellationToken) -> Result<WatchEnd, StoreError> {
        let run = self.handle.key();
        loop {
            let progress = ask(&self.published.client, move |connection| {
                connection.reclaim(run)?;
                connection.progress(run)
            });
            let progress = progress.await?.ok_or(StoreError::NotQueued { run })?;
            self.show_budget().await?;
            if let Some(end) = self.advance(&progress, watcher).await? {
                return Ok(end);
            }
            if let Some(stranded) = self.stranded(&progress).await? {
                return Ok(WatchEnd::Stopped(EarlyStop::NoWorker(stranded)));
            }
            tokio::select! {
                () = cancel.cancelled() => return Ok(WatchEnd::Interrupted),
                () = tokio::time::sleep(LOOK_INTERVAL) => {}
            }
        }
    }

    /// Aggregates what has ended, and returns whether the run is over.
    async fn advance(&mut self, progress: &QueueProgress, watcher: &mut dyn RunWatcher) -> Result<Option<WatchEnd>, StoreError> {
        if !self.all_queued {
            if let Some(end) = self.try_first(progress).await? {
                return Ok(Some(end));
            }
        } else if let Some(end) = self.aggregate_until(progress.first_open.unwrap_or(self.published.shape.planned), watcher).await? {
            return Ok(Some(end));
        }
        if self.all_queued && self.aggregator.next() == self.published.shape.planned {
            return Ok(Some(WatchEnd::Complete));
        }
        match progress.state {
            QueueState::Open => {}
            QueueState::Paused => {
                if let Some(outage) = progress.note.as_deref().and_then(parse_outage) {
                    self.prepared.outages().declare(outage);
                }
                return Ok(Some(WatchEnd::Interrupted));
            }
            QueueState::Closed => return Err(StoreError::Journal("another process has closed the run".into())),
        }
        self.raise_claim_limit().await?;
        Ok(None)
    }

    /// Judges the first trials of external agents once all have ended, and then queues the others.
    async fn try_first(&mut self, progress: &QueueProgress) -> Result<Option<WatchEnd>, StoreError> {
        if progress.first_open.is_some() {
            return Ok(None);
        }
        let key = self.handle.key();
        for n in self.published.first.clone() {
            let found = self.handle.query_store(move |store| {
                let mut found = None;
                store.for_each_ended_within(key, n..n + 1, |ended| found = Some(ended))?;
                Ok::<_, StoreError>((found, store.agent_output(key, n)?))
            });
            let (ended, output) = found.await??;
            if let Some(stop) = broken_agent(&ended.ok_or_else(|| missing_trial(n))?, output.as_ref()) {
                return Ok(Some(WatchEnd::Stopped(stop)));
            }
        }
        self.published.enqueue_all(key).await?;
        self.all_queued = true;
        Ok(None)
    }

    /// Aggregates the trials before this position, all of which have ended.
    async fn aggregate_until(&mut self, end: u64, watcher: &mut dyn RunWatcher) -> Result<Option<WatchEnd>, StoreError> {
        while self.aggregator.next() < end {
            let (key, from) = (self.handle.key(), self.aggregator.next());
            let batch = from..end.min(from + BATCH_SIZE);
            let found = self.handle.query_store(move |store| {
                let mut found = vec![];
                store.for_each_ended_within(key, batch, |ended| found.push(ended)).map(|()| found)
            });
            for ended in found.await?? {
                if ended.n != self.aggregator.next() {
                    return Err(missing_trial(self.aggregator.next()));
                }
                if let Some(stop) = self.add(&ended, watcher) {
                    return Ok(Some(stop));
                }
            }
            if self.aggregator.next() == from {
                return Err(missing_trial(from));
            }
        }
        Ok(None)
    }

    /// Adds the next trial in plan order. Only this stops a run, so that stopping does not depend on the workers.
    fn add(&mut self, ended: &EndedTrial, watcher: &mut dyn RunWatcher) -> Option<WatchEnd> {
        let outcome = self.aggregator.add(ended);
        let watched = WatchedTrial { trial: &ended.trial, ending: &ended.ending, outcome };
        watcher.on_trial_ended(&watched);
        if watcher.on_trial_in_order(&watched) == WatcherDecision::Stop {
            return Some(WatchEnd::Watched);
        }
        self.failed += u64::from(outcome == CaseOutcome::Failed);
        let is_last = self.aggregator.next() == self.published.shape.planned;
        let max_fail = self.prepared.plan().spec().settings.max_fail;
        if max_fail.is_some_and(|most| self.failed >= most) && !is_last {
            return Some(WatchEnd::Stopped(EarlyStop::MaxFail { failed: self.failed }));
        }
        (!is_last && self.aggregator.is_decided()).then_some(WatchEnd::Stopped(EarlyStop::Decided))
    }

    /// Permits workers to go on, in a run that may stop early.
    async fn raise_claim_limit(&mut self) -> Result<(), StoreError> {
        let limit = self.aggregator.next() + MAX_TRIALS_AHEAD;
        if !self.may_stop || limit < self.claim_limit + MAX_TRIALS_AHEAD / 8 {
            return Ok(());
        }
        self.claim_limit = limit;
        let run = self.handle.key();
        ask(&self.published.client, move |connection| connection.set_claim_limit(run, Some(limit))).await
    }

    /// Returns the trials that no worker can play, after waiting for one that can.
    async fn stranded(&mut self, progress: &QueueProgress) -> Result<Option<StrandedTrials>, StoreError> {
        let clock = self.prepared.clock();
        if progress.finished != self.quiet.finished {
            self.quiet = QuietTime { finished: progress.finished, since: clock.stopwatch(), stranded: None };
        }
        if self.quiet.since.elapsed() < QUIET_TIME {
            return Ok(None);
        }
        let run = self.handle.key();
        let (backlog, reasons) =
            ask(&self.published.client, move |connection| Ok((connection.backlog(run)?, connection.inabilities(run)?))).await?;
        let names: Vec<String> = self.prepared.plan().subjects().iter().map(|file| file.name.value.clone()).collect();
        let Some(stranded) = find_stranded(&backlog, &names) else {
            self.quiet = QuietTime { finished: progress.finished, since: clock.stopwatch(), stranded: None };
            return Ok(None);
        };
        let waited = self.quiet.stranded.get_or_insert_with(|| clock.stopwatch()).elapsed();
        self.quiet.since = clock.stopwatch();
        Ok((waited >= self.worker_wait).then_some(StrandedTrials { reasons, waited_s: waited.as_secs(), ..stranded }))
    }

    /// Takes over the sums of the budget, for progress and advice.
    async fn show_budget(&self) -> Result<(), StoreError> {
        let run = self.handle.key();
        let shared = ask(&self.published.client, move |connection| connection.shared_budget(run)).await?;
        let billing = BillingDoubts { unreadable: shared.unreadable, impossible: shared.impossible };
        let spent = Money::from_nanos(shared.spent.saturating_add(shared.reserved));
        self.prepared.funds().budget.show(spent, billing, shared.cheapest_refused.map(Money::from_nanos));
        Ok(())
    }

    /// Ends the queue, judges the gates and stores the verdicts.
    async fn finish(mut self, end: WatchEnd) -> Result<RunSummary, StoreError> {
        let (key, position) = (self.handle.key(), self.aggregator.next());
        let is_interrupted = matches!(end, WatchEnd::Interrupted);
        // Nothing of a worker is committed after this, so the rows below do not change any more.
        ask(&self.published.client, move |connection| if is_interrupted { connection.pause(key, "") } else { connection.close(key) })
            .await?;
        self.show_budget().await?;
        let is_final = matches!(end, WatchEnd::Watched | WatchEnd::Stopped(EarlyStop::MaxFail { .. } | EarlyStop::Decided));
        match end {
            WatchEnd::Complete | WatchEnd::Watched => {}
            WatchEnd::Interrupted | WatchEnd::Stopped(EarlyStop::Preflight { .. } | EarlyStop::NoWorker(_)) => {
                self.aggregate_leftovers()?
            }
            WatchEnd::Stopped(EarlyStop::MaxFail { .. } | EarlyStop::Decided) => {
                self.handle.query_store(move |store| store.remove_trials_from(key, position)).await??;
            }
        }
        let stop = if let WatchEnd::Stopped(stop) = end { Some(stop) } else { None };
        let summary = RunSummary { stop, ..self.aggregator.finish() };
        set_verdicts(self.prepared, self.handle, &summary, is_final).await?;
        Ok(summary)
    }

    /// Aggregates the trials of an interrupted run that ended beyond the first gap.
    fn aggregate_leftovers(&mut self) -> Result<(), StoreError> {
        let first = self.aggregator.next();
        let aggregator = &mut self.aggregator;
        self.handle.for_each_ended(self.published.shape.planned, |ended| {
            if ended.n >= first {
                aggregator.add(ended);
            }
        })
    }
}

fn missing_trial(n: u64) -> StoreError {
    StoreError::Journal(format!("trial {n} of the plan has left the queue without a row"))
}

/// Writes an outage as the note of a pause.
pub(super) fn outage_note(outage: &VendorOutage) -> String {
    serde_json::json!([outage.model, outage.failed_in_a_row, outage.last_fault]).to_string()
}

fn parse_outage(note: &str) -> Option<VendorOutage> {
    let (model, failed_in_a_row, last_fault) = serde_json::from_str(note).ok()?;
    Some(VendorOutage { model, failed_in_a_row, last_fault })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outage_survives_its_note() {
        let outage = VendorOutage { model: "m \"x\"".into(), failed_in_a_row: 10, last_fault: "status 503, [down]".into() };
        assert_eq!(parse_outage(&outage_note(&outage)), Some(outage));
        assert_eq!(parse_outage(""), None, "a pause by a person is no outage");
    }
}
