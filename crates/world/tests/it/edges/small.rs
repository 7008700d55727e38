//! Small world for endpoint tests: a few tools, one peer and the embedded chains of the reference workspace.

use std::collections::BTreeMap;
use std::sync::Arc;

use alloy_primitives::{Address, U256};
use async_trait::async_trait;
use bardo_eval_world::chain::genesis::Genesis;
use bardo_eval_world::chain::{
    AddressBook, ChainBackend, ChainError, ChainLedger, EmbeddedChain, FrozenChain, LedgerTx, Receipt, Signer, Tx, TxSubmission,
    decode_mined, signed_transaction,
};
use bardo_eval_world::mcp::serve::{AgentToolset, SharedWorld};
use bardo_eval_world::{ActingAgent, ChainAccess, EventLog, InboundMessage, PeerAnswer, World};
use model::transcript::{ActionOrigin, Event, EventKind, ReviewDecision, ToolAnswer};
use model::{SkillListing, ToolListing, Workspace};
use serde_json::{Map, Value, json};
use tokio::sync::{Mutex, OnceCell};

/// Chains shared by all trials, each set up once.
struct SharedChains {
    workspace: Arc<Workspace>,
    chains: BTreeMap<u64, (FrozenChain, AddressBook)>,
}

static SHARED_CHAINS: OnceCell<SharedChains> = OnceCell::const_new();

async fn shared_chains() -> &'static SharedChains {
    SHARED_CHAINS
        .get_or_init(|| async {
            let workspace = testkit::reference_workspace();
            let world = workspace.world("defi_small").expect("the world");
            let mut chains = BTreeMap::new();
            for chain in [1, 8453] {
                let genesis = Genesis::from_world(&workspace, world, chain).expect("a genesis");
                chains.insert(chain, (genesis.embedded_chain().await.expect("the set-up"), genesis.book));
            }
            SharedChains { workspace, chains }
        })
        .await
}

pub(crate) const SLOW_WEI: u64 = 77;

pub(crate) struct SmallWorld {
    ground: &'static SharedChains,
    chains: BTreeMap<u64, EmbeddedChain>,
    ledgers: BTreeMap<u64, ChainLedger>,
    signer: Signer,
    log: EventLog,
    now_ms: u64,
    /// Real milliseconds for which a call of `slow` holds the world.
    slow_ms: u64,
    /// Messages for the next acting agent.
    pub(crate) messages: Vec<InboundMessage>,
}

impl SmallWorld {
    pub(crate) async fn new() -> Self {
        Self {
            ground: shared_chains().await,
            chains: BTreeMap::new(),
            ledgers: BTreeMap::new(),
            signer: Signer::development(),
            log: EventLog::default(),
            now_ms: 0,
            slow_ms: 300,
            messages: vec![],
        }
    }

    pub(crate) async fn shared() -> Arc<Mutex<Self>> {
        Arc::new(Mutex::new(Self::new().await))
    }

    /// Pays wei from the operator: a minimal write.
    async fn pay(&mut self, who: &ActingAgent, call: u32, args: &Value) -> ToolAnswer {
        let to = args["to"].as_str().and_then(|to| to.parse::<Address>().ok());
        let wei = args["wei"].as_str().and_then(|wei| wei.parse::<U256>().ok());
        let (Some(to), Some(value)) = (to, wei) else {
            return ToolAnswer::Error { code: "VALIDATION_INVALID_ARGUMENTS".into(), message: "to and wei".into() };
        };
        let tx = Tx { from: self.signer.address(), to: Some(to), value, ..Tx::default() };
        let origin = ActionOrigin { call: Some(call), ..ActionOrigin::default() };
        let what = Box::new(signed_transaction(&self.ground.chains[&8453].1, &tx));
        self.note(who, EventKind::Signed { origin: origin.clone(), what });
        let nonce = match self.chain(8453).await {
            Ok(chain) => chain.nonce(tx.from).await.ok(),
            Err(_) => None,
        };
        match self.broadcast(who, 8453, origin, tx.into()).await {
            Ok(receipt) => ToolAnswer::Result(json!({ "block": receipt.block.number, "nonce": nonce })),
            Err(error) => ToolAnswer::Error { code: "EXECUTION_REFUSED".into(), message: error.to_string() },
        }
    }
}

#[async_trait]
impl World for SmallWorld {
    fn note(&mut self, who: &ActingAgent, happened: EventKind) {
        self.log.note(self.now_ms, who, happened);
    }

    fn record_call(&mut self, who: &ActingAgent, tool: &str, args: &Value) -> u32 {
        self.log.note_call(self.now_ms, who, tool, args)
    }

    async fn call(&mut self, who: &ActingAgent, call: u32, tool: &str, args: &Value) -> ToolAnswer {
        self.now_ms += 200;
        let answer = match tool {
            "price" => ToolAnswer::Result(json!({ "token": args["token"], "usd": "3200.00" })),
            "words" => ToolAnswer::Result(json!("plain words")),
            "pay" => self.pay(who, call, args).await,
            "slow" => {
                tokio::time::sleep(std::time::Duration::from_millis(self.slow_ms)).await;
                ToolAnswer::Result(json!({ "done": true }))
            }
            _ => ToolAnswer::Error { code: "DATA_UNAVAILABLE".into(), message: "no data available".into() },
        };
        self.note(who, EventKind::Answered { call, answer: answer.clone() });
        answer
    }

    async fn ask_peer(&mut self, who: &ActingAgent, to: &str, params: &Map<String, Value>) -> Option<PeerAnswer> {
        let action_id = params.get("action_id").and_then(Value::as_str).map(str::to_owned);
        let answer = PeerAnswer { action_id, decision: ReviewDecision::Approve, reason: "within policy".into() };
        let (PeerAnswer { action_id, decision, reason }, peer) = (answer.clone(), ActingAgent::new(to, who.depth + 1));
        (to == "safety-guardian")
            .then(|| self.note(&peer, EventKind::Decided { action_id, decision, reason, calldata_hash: None, policy: Some(1) }))?;
        Some(answer)
    }

    fn take_messages(&mut self, who: &ActingAgent) -> Vec<InboundMessage> {
        let messages = std::mem::take(&mut self.messages);
        for message in messages.iter().cloned() {
            self.note(who, EventKind::Messaged { from: message.from, to: who.agent.clone(), nonce: message.nonce, text: message.text });
        }
        messages
    }

    fn annotate_tools(&mut self, who: &ActingAgent, mut listings: Vec<ToolListing>) -> Vec<ToolListing> {
        self.note(who, EventKind::HoleRead { hole: "tool_notes".into(), filled: false });
        for listing in listings.iter_mut().filter(|listing| listing.name == "price") {
            listing.description.push_str(" Noted by the world.");
        }
        listings
    }

    fn now_ms(&self) -> u64 {
        self.now_ms
    }

    fn think(&mut self) {
        self.now_ms += 2_000;
    }

    fn calls(&self) -> u64 {
        self.log.calls()
    }

    fn take_events(&mut self) -> Vec<Event> {
        self.log.take()
    }
}

#[async_trait]
impl ChainAccess for SmallWorld {
    fn workspace(&self) -> &Workspace {
        &self.ground.workspace
    }

    fn chain_ids(&self) -> Vec<u64> {
        self.ground.chains.keys().copied().collect()
    }

    async fn chain(&mut self, id: u64) -> Result<&mut dyn ChainBackend, ChainError> {
        let unknown = || ChainError::Unsupported(format!("there is no chain {id}"));
        let (frozen, _) = self.ground.chains.get(&id).ok_or_else(unknown)?;
        Ok(self.chains.entry(id).or_insert_with(|| frozen.thaw()))
    }

    async fn address_book(&mut self, id: u64) -> Result<&AddressBook, ChainError> {
        let unknown = || ChainError::Unsupported(format!("there is no chain {id}"));
        self.ground.chains.get(&id).map(|(_, book)| book).ok_or_else(unknown)
    }

    fn signer(&self) -> &Signer {
        &self.signer
    }

    async fn ledger(&mut self, id: u64) -> Result<&ChainLedger, ChainError> {
        let opened = self.chain(id).await?.latest().await?;
        Ok(self.ledgers.entry(id).or_insert_with(|| ChainLedger::new(id, opened)))
    }

    async fn broadcast(
        &mut self,
        who: &ActingAgent,
        chain: u64,
        origin: ActionOrigin,
        submission: TxSubmission,
    ) -> Result<Receipt, ChainError> {
        self.ledger(chain).await?;
        let Self { ground, chains, ledgers, .. } = self;
        let (Some(on), Some(ledger)) = (chains.get_mut(&chain), ledgers.get_mut(&chain)) else {
            return Err(ChainError::Unsupported(format!("there is no chain {chain}")));
        };
        let LedgerTx { nonce, receipt, tx, .. } = ledger.send(on, &submission).await?;
        let (what, receipt) = (Box::new(decode_mined(&ground.chains[&chain].1, tx, *nonce, receipt)), receipt.clone());
        // A payment of this amount simulates a slow node.
        if submission.tx.value == U256::from(SLOW_WEI) {
            tokio::time::sleep(std::time::Duration::from_millis(self.slow_ms)).await;
        }
        self.note(who, EventKind::Mined { origin, what });
        Ok(receipt)
    }

    fn read_file(&mut self, who: &ActingAgent, path: &str) -> Option<String> {
        let text = match path {
            "docs/terms of use.md" => "# Terms\nBe kind.",
            "token/usdc.json" => "{\"symbol\":\"USDC\"}",
            _ => return None,
        };
        self.note(who, EventKind::HoleRead { hole: format!("file:{path}"), filled: false });
        Some(text.to_owned())
    }
}

pub(crate) fn toolset() -> AgentToolset {
    let tool = |name: &str, properties: Value| ToolListing {
        name: name.to_owned(),
        description: format!("The tool {name}."),
        input_schema: json!({ "type": "object", "properties": properties }).into(),
    };
    let skill = |name: &str, description: &str| SkillListing {
        name: name.to_owned(),
        description: description.to_owned(),
        input_schema: json!({ "type": "object", "properties": { "amount": { "type": "string", "description": "Size." } } }).into(),
    };
    AgentToolset {
        agent: ActingAgent::new("trade-executor", 0),
        tools: vec![
            tool("price", json!({ "token": { "type": "string" } })),
            tool("words", json!({})),
            tool("broken", json!({})),
            tool("slow", json!({})),
            tool("pay", json!({ "to": { "type": "string" }, "wei": { "type": "string" } })),
        ],
        delegates: vec!["safety-guardian".into(), "vault-watchdog".into()],
        skills: vec![skill("swap", "Swap one token for another."), skill("bridge", "Move to another chain.")],
    }
}

pub(crate) fn as_shared(world: &Arc<Mutex<SmallWorld>>) -> SharedWorld {
    world.clone()
}
