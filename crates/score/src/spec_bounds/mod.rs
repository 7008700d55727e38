//! Bounds of the specification, and the rows of a workspace that are weaker.

mod deviation;
mod gate_shortfall;
mod shortfall;
mod table;

pub use deviation::{DeclaredDeviation, declared_deviations};
pub use shortfall::{SpecShortfall, spec_shortfalls};
pub use table::{SPEC_CI, SPEC_GATES, SPEC_POLICY, SPEC_TIERS, SpecCiRow, SpecGate, SpecPolicyBound, SpecSlice, SpecTier};
