//! What is worth running: selection, planning and the way from a plan to a record. Prints nothing.

mod changes;
mod ci;
mod cost;
mod draft;
mod estimate;
mod execute;
mod golden;
mod hall;
mod halt;
mod judging;
mod keep;
mod plan;
mod reckoning;
mod record;
mod request;
mod select;
mod summary;
mod watcher;
mod whole;

pub use changes::{ChangedScore, ChangedVerdict, Changes, Judged};
pub use ci::{Occasion, TierPlan, ci_plan};
pub use cost::{Bill, RunCost, Saved, Spent, Sum, TierCost, bill};
pub use draft::{Draft, draft};
pub use estimate::{Estimate, estimate};
pub use execute::{execute, execute_whole};
pub use golden::{Baseline, Changed, Golden, GoldenDiff, Status};
pub use halt::{Brake, Halt};
pub use judging::{NotCalibrated, ask_judge, calibrate_judge};
pub use keep::{Kept, Label, NotResumed};
pub use plan::{outline, plan, players};
pub use record::rescore;
pub use request::{Aides, Request};
pub use select::{Selection, Unknown, select};
pub use summary::{Broken, Flaky, Summary, passed};
pub use watcher::{Done, Go, Silent, Watcher};
pub use whole::keep_whole;
