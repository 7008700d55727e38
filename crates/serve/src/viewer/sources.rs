//! Everything that the pages are made from, beyond the store itself.

use crate::pages::{AttackSummary, ProductionSummary};
use model::suite::Case;
use model::{GateWindow, Workspace};
use score::pairing::SideReadings;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use store::{SearchIndex, Store, StoreError, StoredRun};

/// Reports that need other parts of the program, which this crate does not know.
pub trait ViewerReports: Send + Sync {
    /// Opens a connection to the store.
    fn open_store(&self) -> Result<Store, StoreError>;

    /// Opens the search index of the store; absent if its folder cannot be written to.
    fn open_index(&self) -> Option<SearchIndex>;

    /// Returns a case of a run that the workspace does not have: of the files of the run, or attacked.
    fn run_case(&self, run: &StoredRun, case: &str) -> Option<Case>;

    /// Summarizes the attacks of a run, by subject.
    fn attacks(&self, store: &Store, run: &StoredRun) -> Result<Vec<AttackSummary>, StoreError>;

    /// Reads one subject of a run for a comparison.
    fn side(&self, store: &Store, run: &StoredRun, subject: &str) -> Result<StoredSide, StoreError>;

    /// Summarizes production traffic; `Err` says why there is none.
    fn production(&self, window: GateWindow) -> Result<ProductionSummary, String>;
}

/// One subject of a run, as a comparison needs it.
#[derive(Debug, Serialize, Deserialize)]
pub struct StoredSide {
    /// Trials of the subject may differ by chance.
    pub is_sampled: bool,
    pub readings: SideReadings,
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
