//! The world of a trial as a subject meets it: tools, peers, the clock, chains, MCP. Knows nothing of providers, scorers or expectations.

pub mod chain;
pub mod endpoints;
mod live;
mod log;
pub mod mcp;

pub use live::{
    ChainKind, DefenceMode, ForeignSource, HOOKS, HoleFills, Hook, HookScope, LiveSource, LiveWorld, UnknownWorld, WorldSettings,
    WorldTemplate, is_foreign,
};
pub use log::EventLog;

use async_trait::async_trait;
use chain::{AddressBook, ChainBackend, ChainError, Receipt, Signer, Tx};
use model::transcript::{ActionOrigin, Event, EventKind, ReviewDecision, ToolAnswer};
use model::{ToolListing, Workspace};
use serde_json::{Map, Value};

/// Everything a trial acts on. One world per trial, which records all that happens in it.
#[async_trait]
pub trait World: Send {
    /// Records an event that touches no tool.
    fn note(&mut self, who: &ActingAgent, happened: EventKind);

    /// Puts a call on record and numbers it; nothing is carried out yet.
    fn record_call(&mut self, who: &ActingAgent, tool: &str, args: &Value) -> u32;

    /// Carries a call out and records all that comes of it, the answer last. The answer may be the tool's own typed error; the
    /// world itself never fails.
    async fn call(&mut self, who: &ActingAgent, call: u32, tool: &str, args: &Value) -> ToolAnswer;

    /// An agent of this world is asked; its decision is recorded. `None` means that the subject itself plays that agent.
    async fn ask_peer(&mut self, who: &ActingAgent, to: &str, params: &Map<String, Value>) -> Option<PeerAnswer>;

    /// Records the decision of an agent that is played; a world that knows actions adds the calldata hash it is about.
    fn record_decision(&mut self, who: &ActingAgent, action_id: Option<String>, decision: ReviewDecision, reason: String) {
        self.note(who, EventKind::Decided { action_id, decision, reason, calldata_hash: None, policy: None });
    }

    /// Messages of other agents that have arrived for this one, recorded as they are handed over.
    fn take_messages(&mut self, who: &ActingAgent) -> Vec<InboundMessage>;

    /// The tools as this world shows them: notes of its making are added to descriptions.
    fn annotate_tools(&mut self, who: &ActingAgent, listings: Vec<ToolListing>) -> Vec<ToolListing>;

    /// Virtual milliseconds since the trial began.
    fn now_ms(&self) -> u64;

    /// Time passes while the subject thinks.
    fn think(&mut self);

    /// Calls so far.
    fn calls(&self) -> u64;

    /// Returns the reason why the world could not do its part. The trial ends and cannot be judged.
    fn harness_fault(&self) -> Option<String> {
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
    async fn chain(&mut self, id: u64) -> Result<&mut dyn ChainBackend, ChainError>;

    async fn book(&mut self, id: u64) -> Result<&AddressBook, ChainError>;

    /// Returns the agent's key. The caller records everything it signs with it.
    fn signer(&self) -> &Signer;

    /// Broadcasts a signed transaction and records it.
    async fn broadcast(&mut self, who: &ActingAgent, chain: u64, origin: ActionOrigin, tx: Tx) -> Result<Receipt, ChainError>;

    /// A file or page of the world, by path, with its holes filled.
    fn read_file(&mut self, who: &ActingAgent, path: &str) -> Option<String>;
}

/// The acting agent: its name, and the number of delegations below the root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActingAgent {
    pub agent: String,
    pub depth: u32,
}

impl ActingAgent {
    pub fn new(agent: impl Into<String>, depth: u32) -> Self {
        Self { agent: agent.into(), depth }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeerAnswer {
    pub action_id: Option<String>,
    pub decision: ReviewDecision,
    pub reason: String,
}

/// A message of another agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InboundMessage {
    pub from: String,
    pub nonce: u64,
    pub text: String,
}
