//! Reduction of attacks: which parts to try to remove next. Pure; the caller tries each proposal and says whether the attack still works.

mod delta;
mod text_units;

pub use delta::DeltaDebugger;
pub use text_units::{TextGrain, text_units, without_units};
