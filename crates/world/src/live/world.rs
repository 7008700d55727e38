//! World of one trial: implements [`World`] and [`ChainAccess`] on the trial state.

use super::dispatch::{self, RawRequest};
use super::mine::mine_submission;
use super::operator::WorldOperator;
use super::peers::{self, PeerRequest};
use super::spent_value::spent_usd8;
use super::trial_state::TrialState;
use super::world_settings::{THINK_MS, WorldSettings};
use super::world_template::WorldTemplate;
use super::world_texts;
use crate::chain::{AddressBook, ChainBackend, ChainError, ChainLedger, Receipt, Signer, TxSubmission};
use crate::{ActingAgent, ChainAccess, InboundMessage, PeerAnswer, World};
use alloy_primitives::U256;
use async_trait::async_trait;
use model::suite::PeerMode;
use model::transcript::{ActionOrigin, ReviewDecision, ToolAnswer};
use model::{Event, EventKind, ToolListing, Workspace};
use serde_json::{Map, Value};
use std::sync::Arc;

/// Default virtual latency of a tool.
const TOOL_MS: u64 = 200;

#[derive(Debug)]
pub struct LiveWorld {
    template: Arc<WorldTemplate>,
    state: TrialState,
}

impl LiveWorld {
    /// Opens a world for one trial; its chains are set up on first use.
    pub fn new(template: &Arc<WorldTemplate>, setup: WorldSettings) -> Self {
        Self { template: template.clone(), state: TrialState::new(template, setup) }
    }

    /// Calls the listener with every event as it is recorded.
    pub fn set_listener(&mut self, listener: Box<dyn FnMut(&Event) + Send>) {
        self.state.record.set_listener(listener);
    }
}

#[async_trait]
impl World for LiveWorld {
    fn note(&mut self, who: &ActingAgent, happened: EventKind) {
        self.state.record.note_named(who, happened);
    }

    fn record_call(&mut self, who: &ActingAgent, tool: &str, args: &Value) -> u32 {
        self.state.record.note_call(who, tool, args)
    }

    async fn call(&mut self, who: &ActingAgent, call: u32, tool: &str, args: &Value) -> ToolAnswer {
        let latency = self.template.file().latency_ms.get(tool).map(|ms| ms.value);
        self.state.record.advance(latency.unwrap_or(TOOL_MS));
        let operator = self.template.world_operator().clone();
        let args = operator.swap_value(args);
        if let Some(answer) = self.state.faults.shadow_answer(tool) {
            self.note(who, EventKind::Answered { call, answer: answer.clone() });
            return answer;
        }
        let request = RawRequest { who, call, tool, args: args.as_ref() };
        let answer = dispatch::answer(&self.template, &mut self.state, request).await;
        let answer = answer.unwrap_or_else(|error| {
            if error.node_failed {
                self.state.harness_fault.get_or_insert_with(|| error.message.clone());
            }
            error.answer()
        });
        let mut answer = operator.swap_answer(answer);
        if let Some((late, read)) = self.state.faults.late_answer(tool, &answer) {
            self.state.record.note_holes(who, vec![read]);
            answer = late;
        }
        let reads = self.state.faults.add_to_answer(tool, &mut answer);
        self.state.record.note_holes(who, reads);
        self.note(who, EventKind::Answered { call, answer: answer.clone() });
        answer
    }

    async fn ask_peer(&mut self, who: &ActingAgent, to: &str, params: &Map<String, Value>) -> Option<PeerAnswer> {
        let role = self.template.workspace().review_role(to).filter(|_| self.state.setup.peers == PeerMode::Stub)?;
        self.state.record.advance(THINK_MS);
        let operator = self.template.world_operator().clone();
        let mut params = params.clone();
        operator.swap_fields(&mut params);
        let answer = peers::ask(&self.template, &mut self.state, PeerRequest { who, to, role, params: &params }).await;
        Some(PeerAnswer { reason: operator.swap_text(&answer.reason), ..answer })
    }

    fn record_decision(&mut self, who: &ActingAgent, action_id: Option<String>, decision: ReviewDecision, reason: String) {
        let reason = self.template.world_operator().swap_text(&reason);
        let answer = PeerAnswer { action_id, decision, reason };
        let role = self.template.workspace().review_role(&who.agent);
        peers::record_decision(&self.template, &mut self.state, who, role, answer);
    }

    fn take_messages(&mut self, who: &ActingAgent) -> Vec<InboundMessage> {
        let mut messages = world_texts::take_messages(&self.template, &mut self.state, who);
        for message in &mut messages {
            message.text = self.template.world_operator().swap_text(&message.text);
        }
        messages
    }

    fn annotate_tools(&mut self, who: &ActingAgent, listings: Vec<ToolListing>) -> Vec<ToolListing> {
        let operator = self.template.world_operator().clone();
        let swap = |listing: ToolListing| ToolListing { description: operator.swap_text(&listing.description), ..listing };
        let listings = listings.into_iter().map(swap).collect();
        let listings = world_texts::with_tool_notes(&self.template, &mut self.state, who, listings);
        let mut listings: Vec<ToolListing> = listings.into_iter().map(swap).collect();
        let reads = self.state.faults.apply_to_listings(self.calls(), &mut listings);
        self.state.record.note_holes(who, reads);
        listings
    }

    fn changes_tools(&self) -> bool {
        self.state.faults.change_tools()
    }

    fn pass_hand_over(&mut self, who: &ActingAgent, params: &mut Map<String, Value>) {
        let reads = self.state.faults.tamper(params);
        self.state.record.note_holes(who, reads);
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

    fn harness_fault(&self) -> Option<String> {
        self.state.harness_fault.clone()
    }

    fn missing_recording(&self) -> Option<String> {
        self.state.missing_recording.clone()
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

    async fn chain(&mut self, id: u64) -> Result<&mut dyn ChainBackend, ChainError> {
        if let Err(error) = self.state.chain(id).await {
            return Err(self.state.note_failure(error));
        }
        Ok(self.state.chain(id).await?.node())
    }

    async fn address_book(&mut self, id: u64) -> Result<&AddressBook, ChainError> {
        Ok(self.state.chain(id).await?.address_book())
    }

    async fn ledger(&mut self, id: u64) -> Result<&ChainLedger, ChainError> {
        Ok(self.state.chain(id).await?.ledger())
    }

    fn signer(&self) -> &Signer {
        self.template.signer()
    }

    fn renamed_operator(&self) -> Option<Arc<WorldOperator>> {
        Some(self.template.world_operator().clone()).filter(|operator| operator.is_renamed())
    }

    fn note_on_chain(&mut self, who: &ActingAgent, happened: EventKind) {
        self.state.record.note(who, happened);
    }

    async fn broadcast(&mut self, who: &ActingAgent, chain: u64, origin: ActionOrigin, tx: TxSubmission) -> Result<Receipt, ChainError> {
        let sent = mine_submission(&mut self.state, who, chain, origin, &tx).await;
        let sent = sent.map_err(|error| self.state.note_failure(error))?;
        let native = self.template.workspace().chains.iter().find(|known| known.id == chain).map_or("", |known| known.native.as_str());
        let on = self.state.chain(chain).await?.template().clone();
        let spent = self.state.record.mined(chain, sent.nonce);
        let spent = spent.map_or(U256::ZERO, |what| spent_usd8(self.template.file(), on.address_book(), native, what));
        self.state.account.add_spent(spent);
        Ok(sent.receipt)
    }

    fn read_file(&mut self, who: &ActingAgent, path: &str) -> Option<String> {
        world_texts::file(&self.template, &mut self.state, who, path)
    }
}
