//! Reports of runs that read every trial: made once for a complete run and kept beside the word index, made anew for a run in progress.

use super::ViewerState;
use super::run_data::RunNumbers;
use super::sources::StoredSide;
use super::store_pool::PooledStore;
use crate::pages::AttackSummary;
use model::ContentHash;
use serde::Serialize;
use serde::de::DeserializeOwned;
use store::{ReportKey, SearchIndex, StoreError, StoredRun};

/// Kinds of reports. The number changes with the meaning or the fields of a report.
const ATTACKS: &str = "attacks 1";
const NUMBERS: &str = "numbers 1";
const SIDE: &str = "side 1";

/// Keeps the attacks of a run that has ended, so that the viewer need not read its transcripts.
pub fn keep_attacks(index: &SearchIndex, run: &str, record: &ContentHash, attacks: &[AttackSummary]) -> Result<(), StoreError> {
    let text = serde_json::to_string(attacks).map_err(|error| StoreError::Journal(error.to_string()))?;
    index.keep_report(ReportKey { run, kind: ATTACKS, made_from: record.as_str() }, &text)
}

impl ViewerState {
    /// Returns the attacks of a run by subject.
    pub(super) fn attacks(&self, pooled: &PooledStore, run: &StoredRun) -> Result<Vec<AttackSummary>, StoreError> {
        self.kept(pooled, run, ATTACKS, IsOfWorkspace::No, || self.reports.attacks(&pooled.store, run))
    }

    /// Returns the attacks of a run if they are known, without reading its trials.
    pub(super) fn known_attacks(&self, pooled: &PooledStore, run: &StoredRun) -> Option<Vec<AttackSummary>> {
        read_kept(pooled.index.as_ref()?, ReportKey { run: &run.id, kind: ATTACKS, made_from: &self.made_from(run, IsOfWorkspace::No)? })
    }

    /// Returns what the page of a run needs from its scores.
    pub(super) fn numbers(&self, pooled: &PooledStore, run: &StoredRun) -> Result<RunNumbers, StoreError> {
        self.kept(pooled, run, NUMBERS, IsOfWorkspace::Yes, || RunNumbers::read(&self.workspace, &pooled.store, run))
    }

    /// Returns one side of a comparison.
    pub(super) fn side(&self, pooled: &PooledStore, run: &StoredRun, subject: &str) -> Result<StoredSide, StoreError> {
        self.kept(pooled, run, &format!("{SIDE} {subject}"), IsOfWorkspace::Yes, || self.reports.side(&pooled.store, run, subject))
    }

    /// Makes the reports of a complete run that are not kept yet. Returns whether there were any.
    pub(super) fn make_reports(&self, pooled: &PooledStore, run: &StoredRun, has_attacks: bool) -> Result<bool, StoreError> {
        let Some(index) = &pooled.index else { return Ok(false) };
        let (Some(own), Some(of_workspace)) = (self.made_from(run, IsOfWorkspace::No), self.made_from(run, IsOfWorkspace::Yes)) else {
            return Ok(false);
        };
        let is_missing =
            |kind: &str, made_from: &str| index.has_report(ReportKey { run: &run.id, kind, made_from }).map(|is_kept| !is_kept);
        let mut is_made = false;
        if is_missing(NUMBERS, &of_workspace)? {
            self.numbers(pooled, run)?;
            is_made = true;
        }
        for subject in &run.subjects {
            if is_missing(&format!("{SIDE} {subject}"), &of_workspace)? {
                self.side(pooled, run, subject)?;
                is_made = true;
            }
        }
        if has_attacks && is_missing(ATTACKS, &own)? {
            self.attacks(pooled, run)?;
            is_made = true;
        }
        Ok(is_made)
    }

    /// Returns what a report of a complete run is made from.
    fn made_from(&self, run: &StoredRun, of_workspace: IsOfWorkspace) -> Option<String> {
        let record = run.record.as_ref()?.as_str();
        Some(match of_workspace {
            IsOfWorkspace::No => record.to_owned(),
            IsOfWorkspace::Yes => format!("{record} {}", self.workspace.hash.as_str()),
        })
    }

    fn kept<T: Serialize + DeserializeOwned>(
        &self,
        pooled: &PooledStore,
        run: &StoredRun,
        kind: &str,
        of_workspace: IsOfWorkspace,
        make: impl FnOnce() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        pooled.store.check_format(run)?;
        let (Some(index), Some(made_from)) = (&pooled.index, self.made_from(run, of_workspace)) else { return make() };
        let key = ReportKey { run: &run.id, kind, made_from: &made_from };
        if let Some(kept) = read_kept(index, key) {
            return Ok(kept);
        }
        let made = make()?;
        if let Ok(text) = serde_json::to_string(&made) {
            // A report that cannot be kept is made again for the next page.
            drop(index.keep_report(key, &text));
        }
        Ok(made)
    }
}

/// Dependence of a report on gates and cases of the open workspace.
#[derive(Debug, Clone, Copy)]
enum IsOfWorkspace {
    Yes,
    No,
}

/// Returns a kept report. One that cannot be read is made again.
fn read_kept<T: DeserializeOwned>(index: &SearchIndex, key: ReportKey<'_>) -> Option<T> {
    serde_json::from_str(&index.report(key).ok().flatten()?).ok()
}
