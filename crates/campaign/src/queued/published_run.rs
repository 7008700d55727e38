//! Run that is published to workers.

use super::ask::ask;
use crate::execute::preflight_trials;
use crate::prepare::PreparedRun;
use crate::run_store::RunHandle;
use model::Money;
use score::outcome::is_run_again;
use store::StoreError;
use store::postgres::queue::{PlanShape, QueueClient, QueuedRun};

/// File of a workspace, as it travels to workers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspaceFile {
    pub path: String,
    pub text: String,
}

/// Run that is published to workers.
#[derive(Debug, Clone)]
pub struct PublishedRun {
    pub(super) client: QueueClient,
    pub(super) shape: PlanShape,
    /// Trials that are played before all others: the first one of each external agent.
    pub(super) first: Vec<u64>,
    /// Trials that were aborted before this process, to be run again.
    pub(super) again: Vec<u64>,
}

impl PublishedRun {
    /// Publishes a run and queues its first trials.
    pub async fn publish(
        client: QueueClient,
        prepared: &PreparedRun,
        handle: &RunHandle,
        program: &str,
        files: Vec<WorkspaceFile>,
    ) -> Result<Self, StoreError> {
        let (run, outline) = (handle.key(), prepared.plan().outline());
        let shape = PlanShape { planned: outline.len(), trials: outline.trials, subjects: outline.subjects.len() as u64 };
        let mut again = vec![];
        handle.for_each_ended(shape.planned, |ended| {
            if is_run_again(&ended.ending, &ended.scores) {
                again.push(ended.n);
            }
        })?;
        let first = preflight_trials(prepared, handle);
        let published = Self { client, shape, first, again };
        let (program, cap) = (program.to_owned(), prepared.plan().spec().settings.budget.map(Money::as_nanos));
        ask(&published.client, move |connection| {
            let files: Vec<(&str, &str)> = files.iter().map(|file| (file.path.as_str(), file.text.as_str())).collect();
            connection.publish(&QueuedRun { run, program: &program, files: &files, cap })
        })
        .await?;
        if published.first.is_empty() {
            published.enqueue_all(run).await?;
        } else {
            let first = published.first.clone();
            ask(&published.client, move |connection| connection.enqueue_first(run, shape, &first)).await?;
        }
        Ok(published)
    }

    /// Queues all trials that have not ended.
    pub(super) async fn enqueue_all(&self, run: i64) -> Result<(), StoreError> {
        let (shape, again) = (self.shape, self.again.clone());
        ask(&self.client, move |connection| connection.enqueue(run, shape, &again)).await
    }

    /// Closes the queue of a run that this process plays itself. Leases are taken back and calls in flight are charged.
    pub fn close(client: &QueueClient, run: i64) -> Result<(), StoreError> {
        client.call_blocking(move |connection| connection.close(run))
    }
}
