//! The world of a trial as a subject meets it: tools, peers, the clock, chains, MCP. Knows nothing of providers, scorers or expectations.

pub mod chain;
pub mod edges;
mod live;
mod log;
pub mod mcp;

pub use live::{
    ChainKind, Defence, Fills, Foreign, HOOKS, Hook, HookScope, LiveSource, LiveWorld, Setup, UnknownWorld, WorldTemplate, is_foreign,
};
pub use log::EventLog;

use async_trait::async_trait;
use chain::{Book, Chain, ChainError, Receipt, Signer, Tx};
use model::transcript::{Decision, Event, Happened, Origin, ToolAnswer};
use model::{Listing, Workspace};
use serde_json::{Map, Value};

/// Everything a trial acts on. One world per trial, which records all that happens in it.
#[async_trait]
pub trait World: Send {
    /// Records an event that touches no tool.
    fn note(&mut self, who: &Who, happened: Happened);

    /// Puts a call on record and numbers it; nothing is carried out yet.
    fn asked(&mut self, who: &Who, tool: &str, args: &Value) -> u32;

    /// Carries a call out and records all that comes of it, the answer last. The answer may be the tool's own typed error; the
    /// world itself never fails.
    async fn call(&mut self, who: &Who, call: u32, tool: &str, args: &Value) -> ToolAnswer;

    /// An agent of this world is asked; its decision is recorded. `None` means that the subject itself plays that agent.
    async fn ask_peer(&mut self, who: &Who, to: &str, params: &Map<String, Value>) -> Option<PeerAnswer>;

    /// Records the decision of an agent that is played; a world that knows actions adds the calldata hash it is about.
    fn decided(&mut self, who: &Who, action_id: Option<String>, decision: Decision, reason: String) {
        self.note(who, Happened::Decided { action_id, decision, reason, calldata_hash: None, policy: None });
    }

    /// Messages of other agents that have arrived for this one, recorded as they are handed over.
    fn inbox(&mut self, who: &Who) -> Vec<Letter>;

    /// The tools as this world shows them: notes of its making are added to descriptions.
    fn shown(&mut self, who: &Who, listings: Vec<Listing>) -> Vec<Listing>;

    /// Virtual milliseconds since the trial began.
    fn now_ms(&self) -> u64;

    /// Time passes while the subject thinks.
    fn think(&mut self);

    /// Calls so far.
    fn calls(&self) -> u64;

    /// Returns the reason why the world could not do its part. The trial ends and cannot be judged.
    fn broken(&self) -> Option<String> {
        None
    }

    /// Hands the recorded events over, once.
    fn take_events(&mut self) -> Vec<Event>;
}

/// Access to the chains of a world, for agents that use RPC instead of tools.
#[async_trait]
pub trait ChainAccess: World {
    fn workspace(&self) -> &Workspace;

    fn chain_ids(&self) -> Vec<u64>;

    /// The chain, set up at its first use.
    async fn chain(&mut self, id: u64) -> Result<&mut dyn Chain, ChainError>;

    async fn book(&mut self, id: u64) -> Result<&Book, ChainError>;

    /// Returns the agent's key. The caller records everything it signs with it.
    fn signer(&self) -> &Signer;

    /// Broadcasts a signed transaction and records it.
    async fn broadcast(&mut self, who: &Who, chain: u64, origin: Origin, tx: Tx) -> Result<Receipt, ChainError>;

    /// A file or page of the world, by path, with its holes filled.
    fn file(&mut self, who: &Who, path: &str) -> Option<String>;
}

/// The acting agent: its name, and the number of delegations below the root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Who {
    pub agent: String,
    pub depth: u32,
}

impl Who {
    pub fn new(agent: impl Into<String>, depth: u32) -> Self {
        Self { agent: agent.into(), depth }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeerAnswer {
    pub action_id: Option<String>,
    pub decision: Decision,
    pub reason: String,
}

/// A message of another agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Letter {
    pub from: String,
    pub nonce: u64,
    pub text: String,
}
