//! Turns a `RunPlan` into a [`PreparedRun`]: subjects, judge and worlds are built once, and mistakes reported before anything is stored.

mod auxiliary;
mod case;
mod environment;
mod fault;
mod funds;
mod prepared_run;
mod recordings;

pub use auxiliary::AuxiliaryModels;
pub use environment::{RunEnvironment, cache_ttl_s};
pub use funds::RunFunds;
pub(crate) use prepared_run::prepare_for_worker;
pub use prepared_run::{PreparedRun, RunParts, prepare, prepare_for_watch};
pub use recordings::{replays_subjects, uses_recordings};
