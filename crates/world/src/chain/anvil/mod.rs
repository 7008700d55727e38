//! Chain on an Anvil node that we start or connect to.

pub(in crate::chain) mod convert;
mod node_claim;
pub(in crate::chain) mod node_client;
mod process;
mod send;

use super::{AccessedState, BLOCK_GAS, BlockInfo, CallOutcome, ChainBackend, ChainError, Receipt, SnapshotId, Tx};
use alloy_primitives::{Address, B256, Bytes, U64, U256};
use async_trait::async_trait;
use convert::{BlockReply, hex_quantity};
use node_claim::NodeClaim;
use node_client::NodeClient;
use process::AnvilProcess;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// Slots that are cleared where a contract is replaced: more than the fixed ones of any of our contracts.
const CLEARED_SLOTS: usize = 48;

/// Settings for starting Anvil.
#[derive(Clone)]
pub struct AnvilConfig {
    pub chain_id: u64,
    /// Time of the first block. A fork uses the time of its origin instead.
    pub unix_s: u64,
    /// Path of the program, if configured.
    pub program: Option<PathBuf>,
    /// Folder filled by scripts/install-test-tools, used if `program` is not set.
    pub tools: Option<PathBuf>,
    /// URL of a node whose latest state the chain starts from.
    pub fork: Option<String>,
    /// Timeout of one request, and of the start (which takes 0.1 to 0.3 s on a busy machine).
    pub timeout: Duration,
}

impl AnvilConfig {
    pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);

    pub fn new(chain_id: u64, unix_s: u64) -> Self {
        Self { chain_id, unix_s, program: None, tools: None, fork: None, timeout: Self::DEFAULT_TIMEOUT }
    }
}

/// Shows only the origin of the fork URL, which may contain an API key.
impl fmt::Debug for AnvilConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { chain_id, unix_s, program, tools, fork, timeout: time } = self;
        let fork = fork.as_deref().map(node_client::display_origin);
        f.debug_tuple("AnvilConfig").field(&(chain_id, unix_s, program, tools, fork, time)).finish()
    }
}

#[derive(Debug)]
pub struct Anvil {
    id: u64,
    rpc: NodeClient,
    next_time: Option<u64>,
    snapshots: Vec<AnvilSnapshot>,
    /// Killed on drop. `None` if we connected to a running node.
    process: Option<AnvilProcess>,
    /// Exclusive use of a running node.
    claim: Option<NodeClaim>,
    /// Addresses with our contracts.
    etched: BTreeSet<Address>,
}

/// Snapshot on our own stack: Anvil accepts snapshots newer than one already restored, and its chain is broken afterwards.
#[derive(Debug)]
struct AnvilSnapshot {
    id: Value,
    next_time: Option<u64>,
}

impl Anvil {
    /// Starts a node and connects to it.
    pub async fn start(config: &AnvilConfig) -> Result<Self, ChainError> {
        let process = AnvilProcess::start(config).await?;
        let mut anvil = Self::connect(&process.url, config.chain_id, config.timeout).await?;
        anvil.process = Some(process);
        // Anvil would log every request.
        anvil.rpc.request("anvil_setLoggingEnabled", json!([false])).await?;
        Ok(anvil)
    }

    /// Connects to a running node, turns automatic mining off and impersonation of any sender on. The node must not have other clients.
    ///
    /// # Errors
    ///
    /// Fails if the node is not an Anvil of this chain with the Prague hardfork or a later one.
    pub async fn connect(url: &str, chain_id: u64, time: Duration) -> Result<Self, ChainError> {
        let rpc = NodeClient::new(url, time)?;
        let mut anvil = Self { id: chain_id, rpc, next_time: None, snapshots: vec![], process: None, claim: None, etched: BTreeSet::new() };
        anvil.check_node().await?;
        anvil.configure_node().await?;
        Ok(anvil)
    }

    /// Claims a running node for one trial: waits until no other trial of this process uses it, and undoes what the last one did.
    /// A node with Anvil's default chain id takes that of the world.
    ///
    /// # Errors
    ///
    /// Fails like [`Self::connect`].
    pub async fn claim(url: &str, chain_id: u64, time: Duration) -> Result<Self, ChainError> {
        let claim = NodeClaim::wait(url).await;
        node_claim::adopt_chain_id(&mut NodeClient::new(url, time)?, chain_id).await?;
        let mut anvil = Self::connect(url, chain_id, time).await?;
        node_claim::undo_last_trial(&mut anvil).await?;
        anvil.claim = Some(claim);
        Ok(anvil)
    }

    /// Returns the URL of the node, for example to fork from it.
    pub fn url(&self) -> &str {
        self.rpc.url()
    }

    /// Returns the process id of the node if we started it.
    pub fn pid(&self) -> Option<u32> {
        self.process.as_ref().and_then(AnvilProcess::id)
    }

    async fn check_node(&mut self) -> Result<(), ChainError> {
        let (id, node) = (self.id, self.rpc.display_url().to_owned());
        let chain: U64 = self.request_as("eth_chainId", json!([])).await.map_err(|error| node_claim::with_remedy(error, id))?;
        if chain != U64::from(id) {
            return Err(ChainError::Unsupported(format!("{node} serves chain {chain}, not {id}: start it with --chain-id {id}")));
        }
        let info = self.rpc.request("anvil_nodeInfo", json!([])).await.map_err(|error| node_claim::with_remedy(error, id))?;
        let fork = info["hardFork"].as_str().unwrap_or_default().to_ascii_lowercase();
        // Later forks change nothing that the contracts of a world use. Isthmus and Jovian are those of OP chains such as Base.
        if !matches!(fork.as_str(), "prague" | "osaka" | "isthmus" | "jovian") && !fork.starts_with("bpo") {
            let fork = node_client::printable_excerpt(&fork, 40);
            return Err(ChainError::Unsupported(format!("{node} runs hardfork {fork:?}: start it with --hardfork prague")));
        }
        Ok(())
    }

    async fn configure_node(&mut self) -> Result<(), ChainError> {
        self.rpc.request("evm_setIntervalMining", json!([0])).await?;
        self.rpc.request("evm_setAutomine", json!([false])).await?;
        let requests = [
            ("anvil_dropAllTransactions", json!([])),
            ("anvil_autoImpersonateAccount", json!([true])),
            ("anvil_setCoinbase", json!([Address::ZERO])),
            ("evm_setBlockGasLimit", json!([hex_quantity(BLOCK_GAS)])),
            // Empty blocks have the time of the block before them. Blocks with a transaction get theirs explicitly.
            ("anvil_setBlockTimestampInterval", json!([0])),
        ];
        self.rpc.request_batch(requests).await.map(drop)
    }

    async fn request_as<T: DeserializeOwned>(&mut self, method: &'static str, params: Value) -> Result<T, ChainError> {
        let value = self.rpc.request(method, params).await?;
        self.parse_reply(method, value)
    }

    fn parse_reply<T: DeserializeOwned>(&self, method: &str, value: Value) -> Result<T, ChainError> {
        let brief = |error: serde_json::Error| node_client::printable_excerpt(&error.to_string(), 200);
        serde_json::from_value(value).map_err(|error| self.rpc.fault(method, format_args!("unexpected reply: {}", brief(error))))
    }

    /// Returns number and time of the latest and of the next block.
    async fn blocks(&mut self) -> Result<[BlockInfo; 2], ChainError> {
        let latest: BlockReply = self.request_as("eth_getBlockByNumber", json!(["latest", false])).await?;
        Ok(self.latest_and_next(latest.block()))
    }

    fn latest_and_next(&self, latest: BlockInfo) -> [BlockInfo; 2] {
        [latest, BlockInfo { number: latest.number + 1, unix_s: self.next_time.unwrap_or(latest.unix_s + 1) }]
    }
}

#[async_trait]
impl ChainBackend for Anvil {
    fn id(&self) -> u64 {
        self.id
    }

    async fn send(&mut self, tx: &Tx) -> Result<Receipt, ChainError> {
        send::send(self, tx).await
    }

    async fn call(&mut self, tx: &Tx) -> Result<CallOutcome, ChainError> {
        send::call(self, tx).await
    }

    async fn accessed(&mut self, tx: &Tx) -> Result<AccessedState, ChainError> {
        send::accessed(self, tx).await
    }

    async fn mine_empty(&mut self, blocks: u64) -> Result<(), ChainError> {
        if blocks == 0 {
            return Ok(());
        }
        self.rpc.request("anvil_mine", json!([hex_quantity(blocks)])).await.map(drop)
    }

    async fn balance(&mut self, of: Address) -> Result<U256, ChainError> {
        self.request_as("eth_getBalance", json!([of, "latest"])).await
    }

    async fn nonce(&mut self, of: Address) -> Result<u64, ChainError> {
        self.request_as("eth_getTransactionCount", json!([of, "latest"])).await.map(|nonce: U64| nonce.to())
    }

    async fn code(&mut self, of: Address) -> Result<Bytes, ChainError> {
        self.request_as("eth_getCode", json!([of, "latest"])).await
    }

    async fn storage(&mut self, of: Address, slot: U256) -> Result<B256, ChainError> {
        self.request_as("eth_getStorageAt", json!([of, slot, "latest"])).await
    }

    async fn latest(&mut self) -> Result<BlockInfo, ChainError> {
        self.blocks().await.map(|[latest, _]| latest)
    }

    async fn set_time(&mut self, unix_s: u64) -> Result<(), ChainError> {
        let latest = self.latest().await?.unix_s;
        if unix_s <= latest {
            return Err(ChainError::Refused(format!("time {unix_s} is not after the latest block at {latest}")));
        }
        self.next_time = Some(unix_s);
        Ok(())
    }

    async fn snapshot(&mut self) -> Result<SnapshotId, ChainError> {
        let id = self.rpc.request("evm_snapshot", json!([])).await?;
        self.snapshots.push(AnvilSnapshot { id, next_time: self.next_time });
        Ok(SnapshotId(self.snapshots.len() as u64 - 1))
    }

    async fn restore(&mut self, to: SnapshotId) -> Result<(), ChainError> {
        let at = usize::try_from(to.0).unwrap_or(usize::MAX);
        if at >= self.snapshots.len() {
            return Err(ChainError::Refused(format!("snapshot {} no longer exists", to.0)));
        }
        self.snapshots.truncate(at + 1);
        let Some(AnvilSnapshot { id, next_time }) = self.snapshots.pop() else { return Ok(()) };
        if !self.request_as::<bool>("evm_revert", json!([id])).await? {
            return Err(self.rpc.fault("evm_revert", "the node has lost a snapshot"));
        }
        self.next_time = next_time;
        Ok(())
    }

    async fn etch(&mut self, at: Address, code: Bytes) -> Result<(), ChainError> {
        // A fork has contracts of its own at well-known addresses, and their storage would be read as that of ours.
        if self.claim.is_some() && self.etched.insert(at) && !self.code(at).await?.is_empty() {
            let zero = |slot: usize| ("anvil_setStorageAt", json!([at, format!("{slot:#x}"), B256::ZERO]));
            self.rpc.request_batch(std::array::from_fn::<_, CLEARED_SLOTS, _>(zero)).await?;
        }
        self.rpc.request("anvil_setCode", json!([at, code])).await.map(drop)
    }

    async fn set_balance(&mut self, of: Address, wei: U256) -> Result<(), ChainError> {
        self.rpc.request("anvil_setBalance", json!([of, wei])).await.map(drop)
    }
}
