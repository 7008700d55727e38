//! The way into a world that several connections share. Once shut, nobody who still waits outside gets in.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::{Mutex, OwnedMutexGuard};

use crate::ChainAccess;

pub type SharedWorld = Arc<Mutex<dyn ChainAccess>>;

#[derive(Clone)]
pub struct Door {
    world: SharedWorld,
    shut: Arc<AtomicBool>,
}

impl Door {
    pub fn new(world: SharedWorld) -> Self {
        Self { world, shut: Arc::default() }
    }

    /// The world for one deed at a time. `None` once the trial is over: looked at after the wait, so no late deed gets on record.
    pub async fn enter(&self) -> Option<OwnedMutexGuard<dyn ChainAccess>> {
        let world = self.world.clone().lock_owned().await;
        (!self.shut.load(Ordering::Acquire)).then_some(world)
    }

    pub fn shut(&self) {
        self.shut.store(true, Ordering::Release);
    }
}

impl fmt::Debug for Door {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Door").field("shut", &self.shut).finish_non_exhaustive()
    }
}
