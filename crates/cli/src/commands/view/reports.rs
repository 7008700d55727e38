//! Reports of the viewer that need runs, attacks and production traces.

use super::attacks::attack_summaries;
use super::production::ProductionReader;
use campaign::{StoredCases, UnjudgedTrials, open_store, stored_side};
use model::suite::Case;
use model::{GateWindow, Workspace};
use score::pairing::RunNoise;
use serve::pages::{AttackSummary, ProductionSummary};
use serve::viewer::{StoredSide, ViewerReports};
use std::sync::Arc;
use store::{SearchIndex, Store, StoreError, StoreLocation, StoredRun};

/// Store, workspace and traces of a viewer.
pub(super) struct StoredReports {
    pub store: StoreLocation,
    pub workspace: Arc<Workspace>,
    pub production: ProductionReader,
}

impl ViewerReports for StoredReports {
    fn open_store(&self) -> Result<Store, StoreError> {
        open_store(&self.store)
    }

    fn open_index(&self) -> Option<SearchIndex> {
        SearchIndex::open(&self.store).ok()
    }

    fn run_case(&self, run: &StoredRun, case: &str) -> Option<Case> {
        StoredCases::new(&self.workspace, run).case(case).cloned()
    }

    fn attacks(&self, store: &Store, run: &StoredRun) -> Result<Vec<AttackSummary>, StoreError> {
        attack_summaries(&self.workspace, store, run)
    }

    fn side(&self, store: &Store, run: &StoredRun, subject: &str) -> Result<StoredSide, StoreError> {
        let side = stored_side(&self.workspace, store, run, subject, UnjudgedTrials::NoResult)?;
        Ok(StoredSide { is_sampled: side.facts.noise == RunNoise::Sampled, readings: side.readings.readings() })
    }

    fn production(&self, window: GateWindow) -> Result<ProductionSummary, String> {
        self.production.read(&self.workspace, window)
    }
}
