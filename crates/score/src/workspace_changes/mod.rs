//! Parts of a workspace that changed since an earlier state of it, and the cases that they concern.

mod case_parts;
mod fingerprint;
mod selection;
mod shown_parts;
#[cfg(test)]
mod tests;

pub use fingerprint::{WorkspaceChanges, WorkspaceFingerprint, differing};
pub use selection::{ChangeReach, ChangedSelection, NearTool, SelectionReason, select_changed};
