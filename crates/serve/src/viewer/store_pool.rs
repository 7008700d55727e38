//! Connections to the store. A connection serves one request at a time.

use std::sync::{Arc, Mutex, PoisonError};
use store::{Store, StoreError};

/// Opens a connection to the store.
pub type StoreOpener = Arc<dyn Fn() -> Result<Store, StoreError> + Send + Sync>;

/// Connections that are kept open.
const MAX_IDLE: usize = 4;

pub(super) struct StorePool {
    open: StoreOpener,
    idle: Mutex<Vec<Store>>,
}

impl StorePool {
    pub(super) fn new(open: StoreOpener) -> Self {
        Self { open, idle: Mutex::new(vec![]) }
    }

    /// Runs `read` with a connection. Blocks, so it is called on a thread that may.
    pub(super) fn with<T>(&self, read: impl FnOnce(&Store) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let store = match idle {
            Some(store) => store,
            None => (self.open)()?,
        };
        let result = read(&store);
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < MAX_IDLE {
            idle.push(store);
        }
        result
    }
}
