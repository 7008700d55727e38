//! Writer thread: commits the spans of several requests at once, and answers each once it is durable.

use super::ClockMs;
use super::limits::CollectorLimits;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use store::production::{ProductionStore, SpanBatch, SpanLimits, StoredSpans};
use tokio::sync::oneshot;

/// Requests that may wait for the writer.
const QUEUE: usize = 1_024;

/// Reason why spans were not stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum SinkError {
    #[error("the collector is busy")]
    Busy,
    #[error("the spans cannot be stored")]
    Failed,
}

struct SinkJob {
    batch: SpanBatch,
    done: oneshot::Sender<Result<StoredSpans, SinkError>>,
}

/// Handle to the writer thread, which ends with the last handle.
#[derive(Debug, Clone)]
pub(super) struct SpanSink {
    jobs: SyncSender<SinkJob>,
}

impl SpanSink {
    pub(super) fn start(store: ProductionStore, clock: ClockMs, limits: CollectorLimits) -> std::io::Result<Self> {
        let (jobs, queue) = sync_channel(QUEUE);
        std::thread::Builder::new().name("collector".into()).spawn(move || write_all(&store, &clock, &limits, &queue))?;
        Ok(Self { jobs })
    }

    /// Stores spans and returns once they are durable.
    pub(super) async fn store(&self, batch: SpanBatch) -> Result<StoredSpans, SinkError> {
        let (done, result) = oneshot::channel();
        self.jobs.try_send(SinkJob { batch, done }).map_err(|error| match error {
            TrySendError::Full(_) => SinkError::Busy,
            TrySendError::Disconnected(_) => SinkError::Failed,
        })?;
        result.await.unwrap_or(Err(SinkError::Failed))
    }
}

fn write_all(store: &ProductionStore, clock: &ClockMs, limits: &CollectorLimits, queue: &Receiver<SinkJob>) {
    let bounds = SpanLimits { spans: limits.spans_per_trace, bytes: limits.bytes_per_trace };
    while let Ok(first) = queue.recv() {
        let mut count = first.batch.spans.len();
        let (mut batches, mut waiting) = (vec![first.batch], vec![first.done]);
        while count < limits.commit_spans
            && let Ok(next) = queue.try_recv()
        {
            count += next.batch.spans.len();
            batches.push(next.batch);
            waiting.push(next.done);
        }
        match store.add_spans(&batches, clock(), bounds) {
            Ok(stored) => {
                for (done, stored) in waiting.into_iter().zip(stored) {
                    // A client that went away gets no answer; it may send the spans again.
                    drop(done.send(Ok(stored)));
                }
            }
            // Nothing of the group is stored, so that every client must send again.
            Err(_) => waiting.into_iter().for_each(|done| drop(done.send(Err(SinkError::Failed)))),
        }
    }
}
