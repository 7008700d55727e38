//! From a `RunSpec` to a `RunPlan`: every name looked up, every trial known, nothing built yet.

mod forecast;
mod outline;
mod run_plan;

pub use forecast::{CostForecast, ForecastJudge};
pub use outline::{outline, plan};
pub use run_plan::RunPlan;
