//! Environment of a trial: tools, peers, clock, chains and MCP. Independent of providers, scorers and expectations.

pub mod chain;
pub mod endpoints;
mod live;
mod log;
pub mod mcp;

pub use live::{
    ChainKind, DefenceMode, ForeignSource, HOOKS, HoleFills, Hook, HookScope, LiveServer, LiveServers, LiveSource, LiveWorld,
    RandomOperator, RandomOperatorError, UnknownWorld, WorldOperator, WorldSettings, WorldTemplate,
};
pub use log::EventLog;

use async_trait::async_trait;
use chain::{AddressBook, ChainBackend, ChainError, ChainLedger, Receipt, Signer, TxSubmission};
use model::transcript::{ActionOrigin, Event, EventKind, ReviewDecision, ToolAnswer};
use model::{ToolListing, Workspace};
use serde_json::{Map, Value};
use std::sync::Arc;

/// Everything that a trial acts on. There is one world per trial, and it records all events of that trial.
#[async_trait]
pub trait World: Send {
    /// Records an event that is not a tool call.
    fn note(&mut self, who: &ActingAgent, happened: EventKind);

    /// Records a call without executing it and returns its number.
    fn record_call(&mut self, who: &ActingAgent, tool: &str, args: &Value) -> u32;

    /// Executes a call and records its effects, then its answer. The answer may be a typed error of the tool. Faults of the world
    /// itself are reported by [`World::harness_fault`].
    async fn call(&mut self, who: &ActingAgent, call: u32, tool: &str, args: &Value) -> ToolAnswer;

    /// Asks an agent of this world and records its decision. Returns `None` if the subject itself plays that agent.
    async fn ask_peer(&mut self, who: &ActingAgent, to: &str, params: &Map<String, Value>) -> Option<PeerAnswer>;

    /// Records the decision of an agent that the subject plays. Worlds that track actions add the hash of the reviewed calldata.
    fn record_decision(&mut self, who: &ActingAgent, action_id: Option<String>, decision: ReviewDecision, reason: String) {
        self.note(who, EventKind::Decided { action_id, decision, reason, calldata_hash: None, policy: None });
    }

    /// Removes and returns the messages that other agents sent to this one, and records their delivery.
    fn take_messages(&mut self, who: &ActingAgent) -> Vec<InboundMessage>;

    /// Returns the tools as this world lists them, with its notes added to their descriptions.
    fn annotate_tools(&mut self, who: &ActingAgent, listings: Vec<ToolListing>) -> Vec<ToolListing>;

    /// Returns whether the tool list may change between calls, so that it must be shown again.
    fn changes_tools(&self) -> bool {
        false
    }

    /// Changes the parameters of a hand-over on their way to the agent that receives them.
    fn pass_hand_over(&mut self, _: &ActingAgent, _: &mut Map<String, Value>) {}

    /// Virtual milliseconds since the trial began.
    fn now_ms(&self) -> u64;

    /// Advances the virtual clock by the thinking time of the subject.
    fn think(&mut self);

    /// Number of calls so far.
    fn calls(&self) -> u64;

    /// Returns the reason for a failure of the harness. The trial then ends as aborted and is not scored.
    fn harness_fault(&self) -> Option<String> {
        None
    }

    /// Returns the first call that only a recording could have answered. The trial then ends as aborted, unless the answer is not needed.
    fn missing_recording(&self) -> Option<String> {
        None
    }

    /// Removes and returns the recorded events.
    fn take_events(&mut self) -> Vec<Event>;
}

/// Access to the chains of a world, for agents that use RPC instead of tools.
#[async_trait]
pub trait ChainAccess: World {
    fn workspace(&self) -> &Workspace;

    fn chain_ids(&self) -> Vec<u64>;

    /// Returns the chain and sets it up on first use.
    async fn chain(&mut self, id: u64) -> Result<&mut dyn ChainBackend, ChainError>;

    async fn address_book(&mut self, id: u64) -> Result<&AddressBook, ChainError>;

    /// Returns the transactions of the trial on a chain.
    async fn ledger(&mut self, id: u64) -> Result<&ChainLedger, ChainError>;

    /// Returns the agent's key. The caller records everything it signs with it.
    fn signer(&self) -> &Signer;

    /// Returns the operator if records name it by another address than the chain does.
    fn renamed_operator(&self) -> Option<Arc<WorldOperator>> {
        None
    }

    /// Records an event with the addresses of the chain.
    fn note_on_chain(&mut self, who: &ActingAgent, happened: EventKind) {
        self.note(who, happened);
    }

    /// Broadcasts a signed transaction and records it.
    async fn broadcast(&mut self, who: &ActingAgent, chain: u64, origin: ActionOrigin, tx: TxSubmission) -> Result<Receipt, ChainError>;

    /// Returns the file or page at `path` with its holes filled.
    fn read_file(&mut self, who: &ActingAgent, path: &str) -> Option<String>;
}

/// Agent that acts, with its delegation depth below the root agent.
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

/// Message from another agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InboundMessage {
    pub from: String,
    pub nonce: u64,
    pub text: String,
}
