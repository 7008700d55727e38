//! From a `RunPlan` to a `PreparedRun`: subjects, judge and worlds built once, every mistake known before anything is stored.

mod auxiliary;
mod case;
mod environment;
mod funds;
mod prepared_run;
mod recordings;

pub use auxiliary::AuxiliaryModels;
pub use environment::RunEnvironment;
pub use funds::RunFunds;
pub use prepared_run::{PreparedRun, RunParts, prepare};
