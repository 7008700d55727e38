//! Settings of a worker.

use std::time::Duration;
use store::postgres::PgTarget;

/// Settings of a worker.
#[derive(Debug, Clone)]
pub struct WorkerSetup {
    pub target: PgTarget,
    /// Machine and process, for people.
    pub name: String,
    /// Version of the program.
    pub program: String,
    /// Trials in flight at once.
    pub concurrency: usize,
    /// Time without a sign of life after which the trials of the worker return to the queue.
    pub lease: Duration,
    /// Time without a free trial after which the worker looks for another run.
    pub patience: Duration,
}
