//! Turns a `RunSpec` into a [`RunPlan`]: names resolved and trials listed, nothing built yet.

mod affordable;
mod forecast;
mod outline;
mod run_plan;

pub use forecast::{CostForecast, MissingRecordings};
pub use outline::{outline, plan};
pub use run_plan::RunPlan;
