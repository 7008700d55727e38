//! Reports of the viewer that need runs, attacks and production traces.

use super::attacks::attack_summaries;
use super::production::ProductionReader;
use campaign::{open_store, stored_run_workspace};
use model::{GateWindow, Workspace};
use serve::pages::{AttackSummary, ProductionSummary};
use serve::viewer::ViewerReports;
use std::sync::{Arc, Mutex, PoisonError};
use store::{Store, StoreError, StoreLocation, StoredRun};

/// Workspaces of runs that are kept. One with attacks is several times as large as the plain one.
const MAX_KEPT: usize = 2;

/// Store, workspace and traces of a viewer.
pub(super) struct StoredReports {
    pub store: StoreLocation,
    pub workspace: Arc<Workspace>,
    pub production: ProductionReader,
    /// By run id, the last one used first.
    pub kept: Mutex<Vec<(String, Arc<Workspace>)>>,
}

impl ViewerReports for StoredReports {
    fn open_store(&self) -> Result<Store, StoreError> {
        open_store(&self.store)
    }

    fn run_workspace(&self, run: &StoredRun) -> Arc<Workspace> {
        let has_case = |case: &str| self.workspace.case(case).is_some();
        if run.plan.as_ref().is_none_or(|plan| plan.cases.iter().all(|planned| has_case(&planned.case))) {
            return self.workspace.clone();
        }
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kept.iter().position(|(id, _)| *id == run.id).map(|at| kept.remove(at));
        let made = known.unwrap_or_else(|| (run.id.clone(), Arc::new(stored_run_workspace(Workspace::clone(&self.workspace), run))));
        let workspace = made.1.clone();
        kept.insert(0, made);
        kept.truncate(MAX_KEPT);
        workspace
    }

    fn attacks(&self, workspace: &Workspace, store: &Store, run: &StoredRun) -> Result<Vec<AttackSummary>, StoreError> {
        attack_summaries(&self.workspace, workspace, store, run)
    }

    fn production(&self, window: GateWindow) -> Result<ProductionSummary, String> {
        self.production.read(&self.workspace, window)
    }
}
