//! From a plan to a summary: play every trial, keep what happened, score what can be scored, judge the gates.

use crate::hall::Hall;
use crate::halt::Halt;
use crate::keep::{Kept, NotResumed};
use crate::reckoning::Reckoning;
use crate::request::Request;
use crate::summary::Summary;
use crate::watcher::{Done, Go, Watcher};
use model::RunRecord;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use store::{Ended, Journal, StoreError, TrialRow, Verdicts, Write};
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::task::JoinSet;

/// How far trials may run ahead of the first one that has not ended: as many ended trials may wait to be counted in order.
const AHEAD: usize = 4096;
/// After so many rows the run waits until they are committed.
const ROWS: u64 = 512;

/// Runs the plan. Results depend neither on concurrency nor on the order in which trials end.
pub async fn execute(request: &Request, kept: &Kept, watcher: &mut dyn Watcher, mut halt: Halt, at: &str) -> Result<Summary, StoreError> {
    let mut reckoning = Reckoning::new(request);
    let (sender, mut results) = mpsc::channel(2 * request.concurrency.max(128));
    let queue = Arc::new(Queue::new(request, kept));
    let mut workers = queue.clone().staff(request, kept, &sender);
    drop(sender);
    let mut waiting: BTreeMap<u64, Ended> = BTreeMap::new();
    let (mut rows, mut stopped) = (0_u64, false);
    while !stopped {
        stopped = settle(&mut reckoning, &mut waiting, kept, &queue, watcher).await? == Go::Stop;
        if stopped || reckoning.next() == request.outline.len() {
            break;
        }
        let (row, ended) = tokio::select! {
            biased;
            () = halt.called() => break,
            result = results.recv() => match result {
                Some(result) => result,
                None => break,
            },
        };
        watcher.ended(&Done { trial: &ended.trial, ending: &ended.ending, passed: ended.passed });
        kept.journal.write(Write::Trial(Box::new(row)));
        waiting.insert(ended.n, ended);
        rows += 1;
        if rows.is_multiple_of(ROWS) {
            committed(&kept.journal).await?;
        }
    }
    workers.shutdown().await;
    committed(&kept.journal).await?;
    if !stopped {
        // A run that was broken off: whatever has ended counts, in order, with gaps.
        leftovers(&mut reckoning, waiting, kept).await?;
    }
    let summary = reckoning.finish();
    let verdicts = Verdicts { judgements: summary.judgements.clone(), out_of_scope: summary.out_of_scope.clone() };
    let record = (stopped || summary.complete && summary.unfunded == 0).then(|| summary.record.clone());
    let (run, at) = (kept.run, at.to_owned());
    look(&kept.journal, move |store| store.judge(run, &verdicts, record.as_ref(), &at)).await??;
    Ok(summary)
}

/// Runs the plan and returns everything in one document; nothing is kept.
pub async fn execute_whole(request: &Request, watcher: &mut dyn Watcher) -> Result<RunRecord, NotResumed> {
    let kept = Kept::in_memory(request)?;
    execute(request, &kept, watcher, Halt::never(), "").await?;
    let run = kept.run;
    let record = look(&kept.journal, move |store| {
        let run = store.run(run)?.ok_or_else(|| StoreError::Journal("the run is gone".into()))?;
        store.record(&run)
    });
    Ok(record.await??)
}

/// Counts what has ended in the order of the plan, as far as there is no gap.
async fn settle(
    reckoning: &mut Reckoning<'_>,
    waiting: &mut BTreeMap<u64, Ended>,
    kept: &Kept,
    queue: &Queue,
    watcher: &mut dyn Watcher,
) -> Result<Go, StoreError> {
    loop {
        let next = reckoning.next();
        if kept.ended.contains(&next) && !waiting.contains_key(&next) {
            waiting.extend(stored(kept, next).await?);
        }
        let Some(ended) = waiting.remove(&next) else { return Ok(Go::On) };
        reckoning.take(&ended);
        queue.counted(next);
        if watcher.finished(&Done { trial: &ended.trial, ending: &ended.ending, passed: ended.passed }) == Go::Stop {
            return Ok(Go::Stop);
        }
    }
}

async fn leftovers(reckoning: &mut Reckoning<'_>, mut waiting: BTreeMap<u64, Ended>, kept: &Kept) -> Result<(), StoreError> {
    let mut left: BTreeSet<u64> = waiting.keys().copied().chain(kept.ended.range(reckoning.next()..).copied()).collect();
    while let Some(n) = left.pop_first() {
        if !waiting.contains_key(&n) {
            waiting.extend(stored(kept, n).await?);
        }
        if let Some(ended) = waiting.remove(&n) {
            reckoning.take(&ended);
        }
    }
    Ok(())
}

/// Some trials that an earlier process brought to their end, from this place on.
async fn stored(kept: &Kept, from: u64) -> Result<Vec<(u64, Ended)>, StoreError> {
    const SOME: u64 = 256;
    let run = kept.run;
    let found = look(&kept.journal, move |store| {
        let mut found = vec![];
        store.each_ended_within(run, from..from + SOME, |ended| found.push((ended.n, ended))).map(|()| found)
    });
    let mut found = found.await??;
    // A row of a trial that was not funded is none of those.
    found.retain(|(n, _)| kept.ended.contains(n));
    Ok(found)
}

async fn committed(journal: &Journal) -> Result<(), StoreError> {
    let (tell, told) = oneshot::channel();
    journal.write_then(Write::Mark, Box::new(move |result| drop(tell.send(result))));
    told.await.unwrap_or_else(|_| Err(gone()))
}

async fn look<T: Send + 'static>(journal: &Journal, look: impl FnOnce(&store::Store) -> T + Send + 'static) -> Result<T, StoreError> {
    let (tell, told) = oneshot::channel();
    journal.look(look, move |found| drop(tell.send(found)));
    told.await.map_err(|_| gone())
}

fn gone() -> StoreError {
    StoreError::Journal("its thread ended".into())
}

/// The trials that are still to be played, in order.
struct Queue {
    next: AtomicU64,
    len: u64,
    ended: BTreeSet<u64>,
    /// How many more may be begun before the first one under way has ended.
    ahead: Semaphore,
}

impl Queue {
    fn new(request: &Request, kept: &Kept) -> Self {
        let ahead = Semaphore::new(AHEAD.max(2 * request.concurrency));
        Self { next: AtomicU64::new(0), len: request.outline.len(), ended: kept.ended.clone(), ahead }
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

    fn counted(&self, n: u64) {
        if !self.ended.contains(&n) {
            self.ahead.add_permits(1);
        }
    }

    fn staff(self: Arc<Self>, request: &Request, kept: &Kept, results: &mpsc::Sender<(TrialRow, Ended)>) -> JoinSet<()> {
        let hall = Arc::new(Hall::new(request, kept.run));
        let mut workers = JoinSet::new();
        for _ in 0..request.concurrency.max(1) {
            let (queue, hall, results) = (self.clone(), hall.clone(), results.clone());
            workers.spawn(async move {
                while let Some(n) = queue.take().await {
                    if results.send(hall.play(n).await).await.is_err() {
                        return;
                    }
                }
            });
        }
        workers
    }
}
