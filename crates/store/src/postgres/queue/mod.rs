//! Runs that several machines play, on PostgreSQL: a queue of trials, leases of workers, one budget, and limits per vendor.
//!
//! A lease belongs to a worker, not to a trial: the row of the worker is locked and renewed first in every transaction that the worker
//! writes, so a worker whose lease was taken back cannot commit anything. Only the clock of the database counts. Every write can be
//! repeated, because it is unknown after a lost connection whether the last commit arrived.

mod calls;
mod claims;
mod client;
mod content;
mod finish;
mod group;
mod lease;
mod publish;
mod session;
#[cfg(test)]
mod tests;
mod vendors;
mod watch;
mod writer;

pub use calls::{CallTicket, ReserveAnswer};
pub use claims::{ClaimAnswer, ClaimedJob};
pub use client::QueueClient;
pub use content::FileIndex;
pub use finish::FinishAnswer;
pub use group::QueueWrite;
pub use lease::{NewWorker, WorkerLease};
pub use publish::{OpenQueue, PlanShape, QueuedRun};
pub use session::QueueConnection;
pub use vendors::VendorThrottle;
pub use watch::{QueueProgress, QueueState, SharedBudget, SubjectBacklog};
pub use writer::QueueWriter;
