//! What is worth running: selection, planning and the way from a plan to a record. Prints nothing.

mod changes;
mod execute;
mod plan;
mod record;
mod select;

pub use changes::{ChangedScore, ChangedVerdict, Changes, Judged};
pub use execute::{Request, execute};
pub use plan::plan;
pub use record::rescore;
pub use select::{Selection, Unknown, select};
