//! Connections to the store and to its search index. A connection serves one request at a time.

use super::sources::ViewerReports;
use std::sync::{Arc, Mutex, PoisonError};
use store::{IndexCoverage, SearchIndex, Store, StoreError};

/// Connections that are kept open.
const MAX_IDLE: usize = 4;

/// Connection to the store, and to the index if its folder can be written to.
pub(super) struct PooledStore {
    pub store: Store,
    pub index: Option<SearchIndex>,
}

pub(super) struct StorePool {
    reports: Arc<dyn ViewerReports>,
    idle: Mutex<Vec<PooledStore>>,
    /// Held while the index is filled, so that two threads do not do the same work.
    filling: Mutex<()>,
    /// Coverage after the last filling, for those that do not wait for the next.
    covered: Mutex<IndexCoverage>,
}

impl StorePool {
    pub(super) fn new(reports: Arc<dyn ViewerReports>) -> Self {
        Self {
            reports,
            idle: Mutex::new(vec![]),
            filling: Mutex::new(()),
            covered: Mutex::new(IndexCoverage { runs: 0, behind: usize::MAX }),
        }
    }

    /// Runs `read` with a connection. Blocks, so it is called on a thread that may.
    pub(super) fn with<T>(&self, read: impl FnOnce(&PooledStore) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let pooled = match idle {
            Some(pooled) => pooled,
            None => self.open()?,
        };
        let result = read(&pooled);
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < MAX_IDLE {
            idle.push(pooled);
        }
        result
    }

    fn open(&self) -> Result<PooledStore, StoreError> {
        let store = self.reports.open_store()?;
        let index = self.reports.open_index();
        Ok(PooledStore { store, index })
    }

    /// Adds up to `most` trials to the index, unless another thread does. Returns nothing if there is no index.
    pub(super) fn fill_index(&self, pooled: &PooledStore, most: usize) -> Result<Option<IndexCoverage>, StoreError> {
        let Some(index) = &pooled.index else { return Ok(None) };
        let covered = || self.covered.lock().unwrap_or_else(PoisonError::into_inner);
        let Ok(_turn) = self.filling.try_lock() else { return Ok(Some(*covered())) };
        let coverage = index.update(&pooled.store, most)?;
        *covered() = coverage;
        Ok(Some(coverage))
    }
}
