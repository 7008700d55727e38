//! Expected cost of a run, and cost report of stored runs.

mod case_order;
mod cost_report;
mod estimate;
mod expected_session;
mod gate_reach;
mod quote;

pub use case_order::order_by_gate_need;
pub use cost_report::{CallTotals, CostReport, CostSavings, RunCost, SpendEntry, TierCost, cost_report};
pub use estimate::{CostEstimate, estimate_cost};
pub use gate_reach::{GateReach, ReachState, funded_cases, gate_reach};
pub use quote::{LiveModels, TrialQuote, trial_quotes};
