//! Runs that several machines play: published by a watcher, played by workers, through a store on PostgreSQL.
//!
//! The watcher aggregates trials in plan order as they end, so that the record and the moment of an early stop do not depend on the workers.

mod abilities;
mod ask;
mod published_run;
mod shift;
mod stranded;
mod watch;
mod work;
mod worker_setup;

pub use abilities::WorkerAbilities;
pub use published_run::{PublishedRun, WorkspaceFile};
pub use watch::watch;
pub use work::{WorkEnd, WorkerRun, work};
pub use worker_setup::WorkerSetup;
