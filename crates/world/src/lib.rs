//! What a subject can touch: tools, peers, the clock, chains, MCP. Knows nothing of providers, scorers or expectations.

pub mod chain;
pub mod edges;
mod live;
mod log;
pub mod mcp;

pub use live::{ChainKind, Defence, Fills, Foreign, HOOKS, LiveSource, LiveWorld, Setup, WorldTemplate, is_foreign};
pub use log::Log;

use async_trait::async_trait;
use chain::{Book, Chain, ChainError, Receipt, Signer, Tx};
use model::transcript::{Decision, Event, Happened, Origin, ToolAnswer};
use model::{Listing, Workspace};
use serde_json::{Map, Value};

/// Everything a trial acts on. One world per trial; whatever happens in it is recorded by it.
#[async_trait]
pub trait World: Send {
    /// Puts on record what somebody did that touches no tool.
    fn note(&mut self, who: &Who, happened: Happened);

    /// Puts a call on record and numbers it; nothing is carried out yet.
    fn asked(&mut self, who: &Who, tool: &str, args: &Value) -> u32;

    /// Carries a call out and records all that comes of it, the answer last. The answer may be the tool's own typed error; the
    /// world itself never fails.
    async fn call(&mut self, who: &Who, call: u32, tool: &str, args: &Value) -> ToolAnswer;

    /// An agent of this world is asked; its decision is recorded. `None` means that the subject itself plays that agent.
    async fn ask_peer(&mut self, who: &Who, to: &str, params: &Map<String, Value>) -> Option<PeerAnswer>;

    /// An agent that somebody plays has decided about an action; a world that knows actions adds what exactly was decided about.
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

    /// Why this trial cannot be judged: the world could not do its part. Nobody may go on after that.
    fn broken(&self) -> Option<String> {
        None
    }

    /// What happened, handed over once.
    fn take_events(&mut self) -> Vec<Event>;
}

/// What the endpoints for finished agents need beyond tools: the chains themselves.
#[async_trait]
pub trait ChainAccess: World {
    fn workspace(&self) -> &Workspace;

    fn chain_ids(&self) -> Vec<u64>;

    /// The chain, set up at its first use.
    async fn chain(&mut self, id: u64) -> Result<&mut dyn Chain, ChainError>;

    async fn book(&mut self, id: u64) -> Result<&Book, ChainError>;

    /// The agent's key. Whoever signs with it records what was signed.
    fn signer(&self) -> &Signer;

    /// Broadcasts what was signed and records the transaction; its nonce comes back with the receipt.
    async fn broadcast(&mut self, who: &Who, chain: u64, origin: Origin, tx: Tx) -> Result<(Receipt, u64), ChainError>;

    /// A file or page of the world, by path, with its holes filled.
    fn file(&mut self, who: &Who, path: &str) -> Option<String>;
}

/// Who acts: an agent's name, and how many delegations below the root.
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
