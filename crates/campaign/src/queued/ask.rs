//! Requests to the queue of a store from inside a runtime.

use store::StoreError;
use store::postgres::queue::{QueueClient, QueueConnection};
use tokio::sync::oneshot;

/// Runs `work` on the connection of a queue.
pub(super) async fn ask<T: Send + 'static>(
    client: &QueueClient,
    work: impl FnOnce(&mut QueueConnection) -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    let (sender, receiver) = oneshot::channel();
    client.call(work, move |result| drop(sender.send(result)));
    receiver.await.unwrap_or_else(|_| Err(StoreError::Journal("the thread of the queue ended".into())))
}
