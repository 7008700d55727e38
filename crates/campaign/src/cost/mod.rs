//! Costs: expected ones before a run, and the bill of runs that are stored.

mod bill;
mod decidable;
mod estimate;
mod expected_session;
mod order;
mod quote;

pub use bill::{Bill, RunCost, Saved, Spent, Sum, TierCost, bill};
pub use decidable::{GateReach, funded, reach};
pub use estimate::{Estimate, estimate};
pub use order::gates_first;
pub use quote::{LiveModels, Quote, quotes};
