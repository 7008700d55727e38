//! What is worth running: selection, planning and the way from a plan to a record. Prints nothing.

mod changes;
mod ci;
mod execute;
mod golden;
mod hall;
mod halt;
mod keep;
mod plan;
mod reckoning;
mod record;
mod request;
mod select;
mod summary;
mod watcher;

pub use changes::{ChangedScore, ChangedVerdict, Changes, Judged};
pub use ci::{Occasion, TierPlan, ci_plan};
pub use execute::{execute, execute_whole};
pub use golden::{Baseline, Changed, Golden, GoldenDiff, Status};
pub use halt::{Brake, Halt};
pub use keep::{Kept, Label, NotResumed};
pub use plan::{outline, plan, players};
pub use record::rescore;
pub use request::Request;
pub use select::{Selection, Unknown, select};
pub use summary::{Broken, Flaky, Summary, passed};
pub use watcher::{Done, Go, Silent, Watcher};
