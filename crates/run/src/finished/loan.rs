//! One world, used in turns: by the driver while it carries out a move, by the agent's own connections while a move is awaited.

use async_trait::async_trait;
use model::transcript::{Decision, ToolAnswer};
use model::{Event, Happened, Listing};
use serde_json::{Map, Value};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::OwnedMutexGuard;
use world::mcp::serve::SharedWorld;
use world::{ChainAccess, Letter, PeerAnswer, Who, World};

type Held = OwnedMutexGuard<dyn ChainAccess>;

/// The subject's end: it lets go of the world while it waits, and takes it back before it moves.
#[derive(Clone)]
pub(super) struct Loan {
    pub(super) world: SharedWorld,
    held: Arc<Mutex<Option<Held>>>,
}

/// The driver's end. Outside of a subject's `next` it always holds the world.
#[derive(Debug)]
pub struct Lent(Loan);

impl fmt::Debug for Loan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loan").finish_non_exhaustive()
    }
}

impl Loan {
    pub(super) fn let_go(&self) {
        drop(self.take());
    }

    pub(super) async fn take_back(&self) {
        let held = self.world.clone().lock_owned().await;
        self.put(held);
    }

    fn take(&self) -> Option<Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn put(&self, held: Held) {
        *self.held.lock().unwrap_or_else(PoisonError::into_inner) = Some(held);
    }

    fn with<T>(&self, deed: impl FnOnce(&mut dyn ChainAccess) -> T) -> T {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        match held.as_mut() {
            Some(world) => deed(&mut **world),
            None => panic!("the driver acts only between moves, and then the world is ours"),
        }
    }

    fn held(&self) -> Held {
        self.take().unwrap_or_else(|| panic!("the driver acts only between moves, and then the world is ours"))
    }
}

impl Lent {
    /// A world that nobody else has touched yet.
    pub async fn new(world: SharedWorld) -> Self {
        let held = world.clone().lock_owned().await;
        Self(Loan { world, held: Arc::new(Mutex::new(Some(held))) })
    }

    pub(super) fn loan(&self) -> Loan {
        self.0.clone()
    }
}

#[async_trait]
impl World for Lent {
    fn note(&mut self, who: &Who, happened: Happened) {
        self.0.with(|world| world.note(who, happened));
    }

    fn asked(&mut self, who: &Who, tool: &str, args: &Value) -> u32 {
        self.0.with(|world| world.asked(who, tool, args))
    }

    async fn call(&mut self, who: &Who, call: u32, tool: &str, args: &Value) -> ToolAnswer {
        let mut world = self.0.held();
        let answer = world.call(who, call, tool, args).await;
        self.0.put(world);
        answer
    }

    async fn ask_peer(&mut self, who: &Who, to: &str, params: &Map<String, Value>) -> Option<PeerAnswer> {
        let mut world = self.0.held();
        let answer = world.ask_peer(who, to, params).await;
        self.0.put(world);
        answer
    }

    fn decided(&mut self, who: &Who, action_id: Option<String>, decision: Decision, reason: String) {
        self.0.with(|world| world.decided(who, action_id, decision, reason));
    }

    fn inbox(&mut self, who: &Who) -> Vec<Letter> {
        self.0.with(|world| world.inbox(who))
    }

    fn shown(&mut self, who: &Who, listings: Vec<Listing>) -> Vec<Listing> {
        self.0.with(|world| world.shown(who, listings))
    }

    fn now_ms(&self) -> u64 {
        self.0.with(|world| world.now_ms())
    }

    fn think(&mut self) {
        self.0.with(|world| world.think());
    }

    fn calls(&self) -> u64 {
        self.0.with(|world| world.calls())
    }

    fn broken(&self) -> Option<String> {
        self.0.with(|world| world.broken())
    }

    fn take_events(&mut self) -> Vec<Event> {
        self.0.with(|world| world.take_events())
    }
}
