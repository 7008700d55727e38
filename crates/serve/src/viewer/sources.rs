//! Everything that the pages are made from, beyond the store itself.

use crate::pages::{AttackSummary, ProductionSummary};
use model::{GateWindow, Workspace};
use std::sync::Arc;
use store::{Store, StoreError, StoredRun};

/// Reports that need other parts of the program, which this crate does not know.
pub trait ViewerReports: Send + Sync {
    /// Opens a connection to the store.
    fn open_store(&self) -> Result<Store, StoreError>;

    /// Returns the workspace of a run: with the cases of its files, and with attacked cases if it has any.
    fn run_workspace(&self, run: &StoredRun) -> Arc<Workspace>;

    /// Summarizes the attacks of a run, by subject.
    fn attacks(&self, workspace: &Workspace, store: &Store, run: &StoredRun) -> Result<Vec<AttackSummary>, StoreError>;

    /// Summarizes production traffic; `Err` says why there is none.
    fn production(&self, window: GateWindow) -> Result<ProductionSummary, String>;
}

/// Workspace and reports of a viewer.
pub struct ViewerSources {
    pub workspace: Arc<Workspace>,
    /// Name of the workspace for people.
    pub label: String,
    pub reports: Arc<dyn ViewerReports>,
}

impl std::fmt::Debug for ViewerSources {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ViewerSources").field("label", &self.label).finish_non_exhaustive()
    }
}
