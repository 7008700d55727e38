//! World shared in turns: held by the driver while it executes a move, by the agent's connections while a move is awaited.

use async_trait::async_trait;
use model::transcript::{ReviewDecision, ToolAnswer};
use model::{Event, EventKind, ToolListing};
use serde_json::{Map, Value};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::OwnedMutexGuard;
use world::mcp::serve::SharedWorld;
use world::{ActingAgent, ChainAccess, InboundMessage, PeerAnswer, World};

type LeaseGuard = OwnedMutexGuard<dyn ChainAccess>;

/// Handle of the subject: releases the world while it waits for a move and reacquires it afterwards.
#[derive(Clone)]
pub(super) struct WorldLease {
    pub(super) world: SharedWorld,
    guard: Arc<Mutex<Option<LeaseGuard>>>,
}

/// Handle of the driver. Holds the world except during [`crate::Subject::next`].
#[derive(Debug)]
pub struct LeasedWorld(WorldLease);

impl fmt::Debug for WorldLease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorldLease").finish_non_exhaustive()
    }
}

impl WorldLease {
    pub(super) fn release(&self) {
        drop(self.take_guard());
    }

    pub(super) async fn reacquire(&self) {
        let held = self.world.clone().lock_owned().await;
        self.put_guard(held);
    }

    fn take_guard(&self) -> Option<LeaseGuard> {
        self.guard.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn put_guard(&self, held: LeaseGuard) {
        *self.guard.lock().unwrap_or_else(PoisonError::into_inner) = Some(held);
    }

    fn with_world<T>(&self, operation: impl FnOnce(&mut dyn ChainAccess) -> T) -> T {
        let mut held = self.guard.lock().unwrap_or_else(PoisonError::into_inner);
        match held.as_mut() {
            Some(world) => operation(&mut **world),
            None => panic!("the driver holds the world between moves"),
        }
    }

    fn expect_guard(&self) -> LeaseGuard {
        self.take_guard().unwrap_or_else(|| panic!("the driver holds the world between moves"))
    }
}

impl LeasedWorld {
    /// Wraps a world and acquires it. The world must not be in use elsewhere.
    pub async fn new(world: SharedWorld) -> Self {
        let held = world.clone().lock_owned().await;
        Self(WorldLease { world, guard: Arc::new(Mutex::new(Some(held))) })
    }

    pub(super) fn lease(&self) -> WorldLease {
        self.0.clone()
    }
}

#[async_trait]
impl World for LeasedWorld {
    fn note(&mut self, who: &ActingAgent, happened: EventKind) {
        self.0.with_world(|world| world.note(who, happened));
    }

    fn record_call(&mut self, who: &ActingAgent, tool: &str, args: &Value) -> u32 {
        self.0.with_world(|world| world.record_call(who, tool, args))
    }

    async fn call(&mut self, who: &ActingAgent, call: u32, tool: &str, args: &Value) -> ToolAnswer {
        let mut world = self.0.expect_guard();
        let answer = world.call(who, call, tool, args).await;
        self.0.put_guard(world);
        answer
    }

    async fn ask_peer(&mut self, who: &ActingAgent, to: &str, params: &Map<String, Value>) -> Option<PeerAnswer> {
        let mut world = self.0.expect_guard();
        let answer = world.ask_peer(who, to, params).await;
        self.0.put_guard(world);
        answer
    }

    fn record_decision(&mut self, who: &ActingAgent, action_id: Option<String>, decision: ReviewDecision, reason: String) {
        self.0.with_world(|world| world.record_decision(who, action_id, decision, reason));
    }

    fn take_messages(&mut self, who: &ActingAgent) -> Vec<InboundMessage> {
        self.0.with_world(|world| world.take_messages(who))
    }

    fn annotate_tools(&mut self, who: &ActingAgent, listings: Vec<ToolListing>) -> Vec<ToolListing> {
        self.0.with_world(|world| world.annotate_tools(who, listings))
    }

    fn changes_tools(&self) -> bool {
        self.0.with_world(|world| world.changes_tools())
    }

    fn pass_hand_over(&mut self, who: &ActingAgent, params: &mut Map<String, Value>) {
        self.0.with_world(|world| world.pass_hand_over(who, params));
    }

    fn now_ms(&self) -> u64 {
        self.0.with_world(|world| world.now_ms())
    }

    fn think(&mut self) {
        self.0.with_world(|world| world.think());
    }

    fn calls(&self) -> u64 {
        self.0.with_world(|world| world.calls())
    }

    fn harness_fault(&self) -> Option<String> {
        self.0.with_world(|world| world.harness_fault())
    }

    fn missing_recording(&self) -> Option<String> {
        self.0.with_world(|world| world.missing_recording())
    }

    fn take_events(&mut self) -> Vec<Event> {
        self.0.with_world(|world| world.take_events())
    }
}
