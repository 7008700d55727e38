//! One trial's world: the front through which agents call tools, ask peers and let time pass.

use super::dispatch::{self, RawRequest};
use super::mine::mine;
use super::peers::{self, PeerRequest};
use super::setup::{Setup, THINK_MS};
use super::sign_typed::OPERATOR;
use super::texts;
use super::tool_error::ToolError;
use super::trial_state::TrialState;
use super::world_template::WorldTemplate;
use crate::chain::{Book, Chain, ChainError, Receipt, Signer, Tx};
use crate::{ChainAccess, Letter, PeerAnswer, Who, World};
use async_trait::async_trait;
use model::suite::Peers;
use model::transcript::{Decision, Origin, ToolAnswer};
use model::{Event, Happened, Listing, Workspace};
use serde_json::{Map, Value};
use std::sync::Arc;

/// Virtual time a tool takes where the world file gives no latency.
const TOOL_MS: u64 = 200;

#[derive(Debug)]
pub struct LiveWorld {
    template: Arc<WorldTemplate>,
    state: TrialState,
}

impl LiveWorld {
    /// Opens a world for one trial; its chains are set up when they are first touched.
    pub fn new(template: &Arc<WorldTemplate>, setup: Setup) -> Self {
        Self { template: template.clone(), state: TrialState::new(template, setup) }
    }

    /// Calls the listener with every event as it is recorded.
    pub fn tap(&mut self, listener: Box<dyn FnMut(&Event) + Send>) {
        self.state.record.tap(listener);
    }
}

#[async_trait]
impl World for LiveWorld {
    fn note(&mut self, who: &Who, happened: Happened) {
        self.state.record.note(who, happened);
    }

    fn asked(&mut self, who: &Who, tool: &str, args: &Value) -> u32 {
        self.state.record.note_call(who, tool, args)
    }

    async fn call(&mut self, who: &Who, call: u32, tool: &str, args: &Value) -> ToolAnswer {
        let latency = self.template.file().latency_ms.get(tool).map(|ms| ms.value);
        self.state.record.advance(latency.unwrap_or(TOOL_MS));
        let request = RawRequest { who, call, tool, args };
        let answer = dispatch::answer(&self.template, &mut self.state, request).await.unwrap_or_else(ToolError::answer);
        self.note(who, Happened::Answered { call, answer: answer.clone() });
        answer
    }

    async fn ask_peer(&mut self, who: &Who, to: &str, params: &Map<String, Value>) -> Option<PeerAnswer> {
        let role = self.template.workspace().review_role(to).filter(|_| self.state.setup.peers == Peers::Stub)?;
        self.state.record.advance(THINK_MS);
        Some(peers::ask(&self.template, &mut self.state, PeerRequest { who, to, role, params }).await)
    }

    fn decided(&mut self, who: &Who, action_id: Option<String>, decision: Decision, reason: String) {
        let answer = PeerAnswer { action_id, decision, reason };
        let role = self.template.workspace().review_role(&who.agent);
        peers::record_decision(&self.template, &mut self.state, who, role, answer);
    }

    fn inbox(&mut self, who: &Who) -> Vec<Letter> {
        texts::take_messages(&self.template, &mut self.state, who)
    }

    fn shown(&mut self, who: &Who, listings: Vec<Listing>) -> Vec<Listing> {
        texts::with_tool_notes(&self.template, &mut self.state, who, listings)
    }

    fn now_ms(&self) -> u64 {
        self.state.now_ms()
    }

    fn think(&mut self) {
        self.state.record.advance(self.state.setup.think_ms);
    }

    fn calls(&self) -> u64 {
        self.state.record.calls()
    }

    fn broken(&self) -> Option<String> {
        self.state.harness_fault.clone()
    }

    fn take_events(&mut self) -> Vec<Event> {
        self.state.record.take()
    }
}

#[async_trait]
impl ChainAccess for LiveWorld {
    fn workspace(&self) -> &Workspace {
        self.template.workspace()
    }

    fn chain_ids(&self) -> Vec<u64> {
        self.template.file().chains.clone()
    }

    async fn chain(&mut self, id: u64) -> Result<&mut dyn Chain, ChainError> {
        Ok(self.state.chain(id).await?.node())
    }

    async fn book(&mut self, id: u64) -> Result<&Book, ChainError> {
        Ok(self.state.chain(id).await?.book())
    }

    fn signer(&self) -> &Signer {
        &OPERATOR
    }

    async fn broadcast(&mut self, who: &Who, chain: u64, origin: Origin, tx: Tx) -> Result<Receipt, ChainError> {
        Ok(mine(&mut self.state, who, chain, origin, &tx).await?.receipt)
    }

    fn file(&mut self, who: &Who, path: &str) -> Option<String> {
        texts::file(&self.template, &mut self.state, who, path)
    }
}
