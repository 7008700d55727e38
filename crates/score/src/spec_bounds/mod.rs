//! Bounds of the specification, and the rows of a workspace that are weaker.

mod deviation;
mod gate_shortfall;
mod shortfall;
mod table;
mod tier_shortfall;
mod workspace_shortfall;

pub use deviation::{DeclaredDeviation, declared_deviations};
pub use shortfall::SpecShortfall;
pub use table::{SPEC_CI, SPEC_GATES, SPEC_POLICY, SPEC_TIERS, SpecCiRow, SpecGate, SpecPolicyBound, SpecSlice, SpecTier};
pub use workspace_shortfall::spec_shortfalls;
