//! Thread with a connection to the queues of a store, for callers inside a runtime.

use super::session::QueueConnection;
use crate::StoreError;
use crate::postgres::target::PgTarget;
use std::fmt;
use std::sync::mpsc::{Sender, channel};

type ClientJob = Box<dyn FnOnce(&mut QueueConnection) + Send>;

/// Handle to a thread with a connection to the queues of a store. The thread ends with the last clone.
#[derive(Clone)]
pub struct QueueClient {
    jobs: Sender<ClientJob>,
}

impl fmt::Debug for QueueClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("QueueClient")
    }
}

impl QueueClient {
    /// Connects to a store whose tables exist.
    pub fn open(target: &PgTarget) -> Result<Self, StoreError> {
        let (jobs, queue) = channel::<ClientJob>();
        let (connected, answer) = channel();
        let target = target.clone();
        let work = move || match QueueConnection::open(&target) {
            Ok(mut connection) => {
                drop(connected.send(Ok(())));
                while let Ok(job) = queue.recv() {
                    job(&mut connection);
                }
            }
            Err(error) => drop(connected.send(Err(error))),
        };
        let started = std::thread::Builder::new().name("queues".into()).spawn(work);
        started.map_err(|error| StoreError::Journal(format!("the connection cannot be started: {error}")))?;
        answer.recv().map_err(|_| closed())??;
        Ok(Self { jobs })
    }

    /// Runs `work` with the connection and passes its result to `callback`.
    pub fn call<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut QueueConnection) -> Result<T, StoreError> + Send + 'static,
        callback: impl FnOnce(Result<T, StoreError>) + Send + 'static,
    ) {
        // The callback of a thread that has ended is dropped, which its receiver notices.
        drop(self.jobs.send(Box::new(move |connection| callback(work(connection)))));
    }

    /// Like [`QueueClient::call`], but blocks until the result is there.
    pub fn call_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut QueueConnection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (sender, receiver) = channel();
        self.call(work, move |result| drop(sender.send(result)));
        receiver.recv().map_err(|_| closed())?
    }
}

fn closed() -> StoreError {
    StoreError::Journal("the thread of the queue ended".into())
}
