//! What is worth running: selection, planning and the way from a plan to a record. Prints nothing.

mod execute;
mod plan;
mod select;

pub use execute::{Request, execute};
pub use plan::plan;
pub use select::{Selection, Unknown, select};
