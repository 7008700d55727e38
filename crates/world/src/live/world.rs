//! One trial's world: the front that takes calls, delegations and time.

use super::actions::Actions;
use super::fixtures::{self, Fills, Read};
use super::foreign::Foreign;
use super::hooks::Spent;
use super::tool_error::ToolError;
use super::tx_builder::TxBuilder;
use super::views::SentFact;
use super::world_template::{ChainTemplate, WorldTemplate};
use crate::chain::genesis::{KEEPER, opening};
use crate::chain::{Book, Chain, ChainError, Receipt, Signer, Tx, mined};
use crate::{ChainAccess, Letter, Log, PeerAnswer, Who, World};
use async_trait::async_trait;
use model::suite::Peers;
use model::transcript::{Decision, Origin, Provenance, ToolAnswer, ToolErrorCode};
use model::{Event, Happened, Listing, ReviewRole, Thing, Workspace, WorldFile};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

/// Think time per move, and how long a tool takes that says nothing else.
const THINK_MS: u64 = 2_000;
const TOOL_MS: u64 = 200;

static OPERATOR: LazyLock<Signer> = LazyLock::new(Signer::development);

/// How a trial differs from another in the same world.
#[derive(Debug, Clone)]
pub struct Setup {
    pub peers: Peers,
    pub defence: Defence,
    /// What attacks wrote into holes.
    pub fills: Fills,
    pub think_ms: u64,
    /// Who answers for tools that were imported from an MCP server.
    pub foreign: Foreign,
}

impl Default for Setup {
    fn default() -> Self {
        let foreign = Foreign::default();
        Self { peers: Peers::Stub, defence: Defence::Observe, fills: Fills::default(), think_ms: THINK_MS, foreign }
    }
}

/// What happens when a hook objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Defence {
    /// It is recorded, and the call goes on: the world must not do the subject's work.
    #[default]
    Observe,
    Enforce,
}

pub struct LiveWorld {
    pub(super) stage: Arc<WorldTemplate>,
    pub(super) setup: Setup,
    pub(super) log: Log,
    pub(super) now_ms: u64,
    pub(super) chains: BTreeMap<u64, TrialChain>,
    pub(super) actions: Actions,
    pub(super) things: Arc<Vec<Thing>>,
    pub(super) remembered: Vec<(String, Value, Provenance)>,
    pub(super) sent: Vec<SentFact>,
    pub(super) spent: Spent,
    pub(super) halted: bool,
    /// What the harness could not do: no fault of the subject.
    pub(super) broken: Option<String>,
    delivered: BTreeSet<usize>,
}

/// A chain this trial has touched.
pub(super) struct TrialChain {
    pub site: Arc<ChainTemplate>,
    pub chain: Box<dyn Chain>,
    pub rehearsed: BTreeMap<(u64, String), super::prepare::Rehearsal>,
}

impl std::fmt::Debug for LiveWorld {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LiveWorld").field("world", &self.facts().name.value).field("now_ms", &self.now_ms).finish_non_exhaustive()
    }
}

impl LiveWorld {
    /// Tells somebody of every event as soon as it is recorded.
    pub fn tap(&mut self, tell: Box<dyn FnMut(&Event) + Send>) {
        self.log.tap(tell);
    }

    pub(super) fn new(stage: Arc<WorldTemplate>, setup: Setup) -> Self {
        let things = stage.things.clone();
        Self {
            stage,
            setup,
            log: Log::default(),
            now_ms: 0,
            chains: BTreeMap::new(),
            actions: Actions::default(),
            things,
            remembered: vec![],
            sent: vec![],
            spent: Spent::default(),
            halted: false,
            broken: None,
            delivered: BTreeSet::new(),
        }
    }

    pub(super) fn facts(&self) -> &WorldFile {
        self.stage.file()
    }

    pub(super) fn operator(&self) -> alloy_primitives::Address {
        self.facts().wallet.address
    }

    pub(super) fn record(&mut self, who: &Who, happened: Happened) {
        self.log.note(self.now_ms, who, happened);
    }

    pub(super) fn read_holes(&mut self, who: &Who, reads: Vec<Read>) {
        for (hole, filled) in reads {
            self.record(who, Happened::HoleRead { hole, filled });
        }
    }

    /// The chain with its clock at the trial's time; made when it is first touched.
    pub(super) async fn here(&mut self, id: u64) -> Result<&mut TrialChain, ChainError> {
        if !self.chains.contains_key(&id) {
            let site = self.stage.site(id).await?;
            let mut chain = self.stage.chain(&site).await?;
            for tx in self.renamed(id) {
                chain.send(&tx).await?;
            }
            self.chains.insert(id, TrialChain { site, chain, rehearsed: BTreeMap::new() });
        }
        let now_s = self.now_ms / 1000;
        let here = self.chains.get_mut(&id).ok_or_else(|| ChainError::Unsupported(format!("this world has no chain {id}")))?;
        let wanted = here.site.genesis.opens_at + now_s;
        if wanted > here.chain.latest().await?.unix_s {
            here.chain.set_time(wanted).await?;
        }
        Ok(here)
    }

    /// On-chain text is a channel too: what an attack wrote becomes the name of its token.
    fn renamed(&self, id: u64) -> Vec<Tx> {
        let mut renamed = vec![];
        for token in self.facts().tokens.iter().filter(|token| token.chain == id) {
            let mut reads = vec![];
            let mut text = |inert| fixtures::text(&self.stage.workspace, self.facts(), &self.setup.fills, inert, &mut reads);
            let (name, symbol) = (text(&token.name), text(&token.symbol));
            if reads.iter().any(|(_, filled)| *filled) {
                renamed.push(Tx::call(KEEPER, token.address.address, opening::rename(name, symbol)));
            }
        }
        renamed
    }

    /// A builder on one chain.
    pub(super) async fn builder(&mut self, id: u64) -> Result<TxBuilder<'_>, ToolError> {
        let latest = self.here(id).await?.chain.latest().await?.unix_s;
        let Self { stage, things, chains, now_ms, .. } = self;
        let Some(here) = chains.get_mut(&id) else { return Err(ToolError::new(ToolErrorCode::RpcError, "the chain is gone")) };
        Ok(TxBuilder {
            workspace: &stage.workspace,
            world: stage.file(),
            book: &here.site.genesis.book,
            chain: here.chain.as_mut(),
            id,
            unix_s: latest.max(here.site.genesis.opens_at + *now_ms / 1000),
            things,
        })
    }

    pub(super) async fn mine(&mut self, who: &Who, id: u64, origin: Origin, tx: Tx) -> Result<(Receipt, u64), ChainError> {
        let here = self.here(id).await?;
        let nonce = here.chain.nonce(tx.from).await?;
        let receipt = here.chain.send(&tx).await?;
        let what = Box::new(mined(&here.site.genesis.book, &tx, nonce, &receipt));
        here.rehearsed.clear();
        self.record(who, Happened::Mined { origin, what });
        Ok((receipt, nonce))
    }
}

#[async_trait]
impl World for LiveWorld {
    fn note(&mut self, who: &Who, happened: Happened) {
        self.record(who, happened);
    }

    fn asked(&mut self, who: &Who, tool: &str, args: &Value) -> u32 {
        self.log.called(self.now_ms, who, tool, args)
    }

    async fn call(&mut self, who: &Who, call: u32, tool: &str, args: &Value) -> ToolAnswer {
        let latency = |file: &WorldFile| file.latency_ms.get(tool).map(|ms| ms.value);
        self.now_ms += latency(self.facts()).unwrap_or(TOOL_MS);
        let answer = self.answer(who, call, tool, args).await.unwrap_or_else(ToolError::answer);
        self.record(who, Happened::Answered { call, answer: answer.clone() });
        answer
    }

    async fn ask_peer(&mut self, who: &Who, to: &str, params: &Map<String, Value>) -> Option<PeerAnswer> {
        let role = self.stage.workspace.review_role(to).filter(|_| self.setup.peers == Peers::Stub)?;
        self.now_ms += THINK_MS;
        Some(self.decide(who, to, role, params).await)
    }

    fn decided(&mut self, who: &Who, action_id: Option<String>, decision: Decision, reason: String) {
        let policy = self.stage.workspace.policy.version;
        let calldata_hash = action_id.as_deref().and_then(|id| self.actions.get(id)).map(|frozen| frozen.calldata_hash.clone());
        let role = self.stage.workspace.review_role(&who.agent);
        if let (Some(ReviewRole::Guardian), Some(calldata_hash)) = (role, &calldata_hash) {
            self.actions.decided(calldata_hash, decision, policy);
        }
        self.record(who, Happened::Decided { action_id, decision, reason, calldata_hash, policy: Some(policy) });
    }

    fn inbox(&mut self, who: &Who) -> Vec<Letter> {
        let stage = self.stage.clone();
        let file = stage.file();
        let mut letters = vec![];
        for (n, message) in file.messages.iter().enumerate() {
            let due = message.to == who.agent && message.after_s * 1000 <= self.now_ms && !self.delivered.contains(&n);
            if !due {
                continue;
            }
            self.delivered.insert(n);
            let mut reads = vec![];
            let text = fixtures::text(&stage.workspace, file, &self.setup.fills, &message.text, &mut reads);
            let (from, nonce) = (message.from.clone(), message.nonce);
            self.record(who, Happened::Messaged { from: from.clone(), to: message.to.clone(), nonce, text: text.clone() });
            self.read_holes(who, reads);
            letters.push(Letter { from, nonce, text });
        }
        letters
    }

    fn shown(&mut self, who: &Who, mut listings: Vec<Listing>) -> Vec<Listing> {
        let stage = self.stage.clone();
        let file = stage.file();
        let mut reads = vec![];
        for listing in &mut listings {
            let Some(note) = file.tool_notes.get(&listing.name) else { continue };
            let text = fixtures::text(&stage.workspace, file, &self.setup.fills, &note.value, &mut reads);
            if !text.is_empty() {
                listing.description = format!("{} {text}", listing.description.trim_end());
            }
        }
        self.read_holes(who, reads);
        listings
    }

    fn now_ms(&self) -> u64 {
        self.now_ms
    }

    fn think(&mut self) {
        self.now_ms += self.setup.think_ms;
    }

    fn calls(&self) -> u64 {
        self.log.calls()
    }

    fn broken(&self) -> Option<String> {
        self.broken.clone()
    }

    fn take_events(&mut self) -> Vec<Event> {
        self.log.take()
    }
}

#[async_trait]
impl ChainAccess for LiveWorld {
    fn workspace(&self) -> &Workspace {
        &self.stage.workspace
    }

    fn chain_ids(&self) -> Vec<u64> {
        self.facts().chains.clone()
    }

    async fn chain(&mut self, id: u64) -> Result<&mut dyn Chain, ChainError> {
        Ok(self.here(id).await?.chain.as_mut())
    }

    async fn book(&mut self, id: u64) -> Result<&Book, ChainError> {
        Ok(&self.here(id).await?.site.genesis.book)
    }

    fn signer(&self) -> &Signer {
        &OPERATOR
    }

    async fn broadcast(&mut self, who: &Who, chain: u64, origin: Origin, tx: Tx) -> Result<(Receipt, u64), ChainError> {
        self.mine(who, chain, origin, tx).await
    }

    fn file(&mut self, who: &Who, path: &str) -> Option<String> {
        let stage = self.stage.clone();
        let inert = &stage.file().files.get(path)?.value;
        let mut reads = vec![];
        let text = fixtures::text(&stage.workspace, stage.file(), &self.setup.fills, inert, &mut reads);
        self.read_holes(who, reads);
        Some(text)
    }
}
