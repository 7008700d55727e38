//! Mutex around a world shared by several connections. After `close`, pending lockers fail.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::{Mutex, OwnedMutexGuard};

use crate::ChainAccess;

pub type SharedWorld = Arc<Mutex<dyn ChainAccess>>;

#[derive(Clone)]
pub struct WorldLock {
    world: SharedWorld,
    closed: Arc<AtomicBool>,
}

impl WorldLock {
    pub fn new(world: SharedWorld) -> Self {
        Self { world, closed: Arc::default() }
    }

    /// Waits for the world. Returns `None` if the trial is over. This is checked after the wait, so that late operations are not recorded.
    pub async fn lock(&self) -> Option<OwnedMutexGuard<dyn ChainAccess>> {
        let world = self.world.clone().lock_owned().await;
        (!self.closed.load(Ordering::Acquire)).then_some(world)
    }

    pub fn close(&self) {
        self.closed.store(true, Ordering::Release);
    }
}

impl fmt::Debug for WorldLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorldLock").field("closed", &self.closed).finish_non_exhaustive()
    }
}
