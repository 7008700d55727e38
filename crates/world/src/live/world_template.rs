//! State shared by the trials of one world: chains are set up once per process and copied for each trial.

use super::operator::{RandomOperator, WorldOperator};
use crate::chain::genesis::Genesis;
use crate::chain::{AddressBook, Anvil, AnvilConfig, ChainBackend, ChainError, FrozenChain, Signer};
use alloy_primitives::Address;
use model::{Policy, UserError, Workspace, WorldFile, WorldObject};
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::OnceCell;

/// Backend for the chains of a world.
#[derive(Debug, Clone, Default)]
pub enum ChainKind {
    /// In-process revm.
    #[default]
    Embedded,
    /// One Anvil per chain and trial, started with this config on first use. Chain id and time come from the world.
    Anvil(Box<AnvilConfig>),
    /// URL of a running Anvil for one chain, used by one trial at a time.
    AnvilAt(String),
}

#[derive(Debug)]
pub struct WorldTemplate {
    workspace: Arc<Workspace>,
    name: String,
    operator: Arc<WorldOperator>,
    kind: ChainKind,
    /// Shared by all trials; copied if a trial adds an object.
    things: Arc<Vec<WorldObject>>,
    chains: BTreeMap<u64, OnceCell<Arc<ChainTemplate>>>,
}

/// Initial state of one chain, equal for all trials.
#[derive(Debug)]
pub(super) struct ChainTemplate {
    genesis: Genesis,
    frozen: Option<FrozenChain>,
}

impl ChainTemplate {
    pub(super) fn address_book(&self) -> &AddressBook {
        &self.genesis.book
    }

    /// Returns the Unix time at which trials begin by the world file.
    pub(super) fn opens_at(&self) -> u64 {
        self.genesis.opens_at
    }
}

/// World that is not in the workspace.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no world {0}")]
pub struct UnknownWorld(String);

impl From<UnknownWorld> for UserError {
    fn from(error: UnknownWorld) -> Self {
        UserError::caused_by(error)
    }
}

impl WorldTemplate {
    pub fn new(workspace: Arc<Workspace>, world: &str, kind: ChainKind) -> Result<Arc<Self>, UnknownWorld> {
        let file = workspace.world(world).ok_or_else(|| UnknownWorld(world.to_owned()))?;
        let operator = WorldOperator::pinned(file.wallet.as_ref().map(|wallet| wallet.address));
        Ok(Self::with_operator(workspace.clone(), file, operator, kind))
    }

    /// Returns a template whose operator has a random key, for agents outside of this process. Records name the wallet of the world file.
    pub fn with_random_operator(
        workspace: &Workspace,
        world: &str,
        operator: &RandomOperator,
        kind: ChainKind,
    ) -> Result<Arc<Self>, UnknownWorld> {
        let wallet = workspace.world(world).ok_or_else(|| UnknownWorld(world.to_owned()))?.wallet.as_ref();
        let operator_of_records = wallet.map_or_else(|| operator.unnamed(), |wallet| operator.named(wallet.address));
        Self::with_wallet(workspace, world, (operator, operator_of_records), kind)
    }

    /// Like [`Self::with_random_operator`], with the operator's own address in records.
    pub fn with_visible_operator(
        workspace: &Workspace,
        world: &str,
        operator: &RandomOperator,
        kind: ChainKind,
    ) -> Result<Arc<Self>, UnknownWorld> {
        Self::with_wallet(workspace, world, (operator, operator.unnamed()), kind)
    }

    fn with_wallet(
        workspace: &Workspace,
        world: &str,
        (random, operator): (&RandomOperator, WorldOperator),
        kind: ChainKind,
    ) -> Result<Arc<Self>, UnknownWorld> {
        let workspace = Arc::new(random.workspace_with_wallet(workspace, world));
        let file = workspace.world(world).ok_or_else(|| UnknownWorld(world.to_owned()))?;
        Ok(Self::with_operator(workspace.clone(), file, operator, kind))
    }

    fn with_operator(workspace: Arc<Workspace>, file: &WorldFile, operator: WorldOperator, kind: ChainKind) -> Arc<Self> {
        let chains = file.chains.iter().map(|id| (*id, OnceCell::new())).collect();
        let things = Arc::new(file.objects.clone());
        Arc::new(Self { workspace, name: file.name.value.clone(), operator: Arc::new(operator), kind, things, chains })
    }

    pub(super) fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// Returns the policy, which every workspace with chains has.
    pub(super) fn policy(&self) -> Result<&Policy, ChainError> {
        self.workspace.policy.as_ref().ok_or_else(|| ChainError::Unsupported("a chain needs a policy".to_owned()))
    }

    pub(super) fn file(&self) -> &WorldFile {
        // Checked in `new`, and the workspace is immutable.
        self.workspace.world(&self.name).unwrap_or_else(|| panic!("world {} is gone", self.name))
    }

    /// Returns the address of the agent's key.
    pub(super) fn operator(&self) -> Address {
        self.operator.address
    }

    pub(super) fn world_operator(&self) -> &Arc<WorldOperator> {
        &self.operator
    }

    pub(super) fn signer(&self) -> &Signer {
        self.operator.signer()
    }

    pub(super) fn things(&self) -> &Arc<Vec<WorldObject>> {
        &self.things
    }

    pub(super) async fn chain_template(&self, id: u64) -> Result<Arc<ChainTemplate>, ChainError> {
        let cell = self.chains.get(&id).ok_or_else(|| ChainError::Unsupported(format!("chain {id} is not supported")))?;
        cell.get_or_try_init(|| async {
            let genesis = Genesis::from_world(&self.workspace, self.file(), id)?;
            let frozen = match self.kind {
                ChainKind::Embedded => Some(genesis.embedded_chain().await?),
                ChainKind::Anvil(_) | ChainKind::AnvilAt(_) => None,
            };
            Ok(Arc::new(ChainTemplate { genesis, frozen }))
        })
        .await
        .cloned()
    }

    /// Creates a separate chain for one trial. Returns it with the Unix time at which the trial starts: a node with later blocks moves it.
    pub(super) async fn open_chain(&self, template: &ChainTemplate) -> Result<(Box<dyn ChainBackend>, u64), ChainError> {
        let id = template.genesis.book.chain;
        let mut anvil = match (&self.kind, &template.frozen) {
            (_, Some(frozen)) => return Ok((Box::new(frozen.thaw()), template.genesis.opens_at)),
            (ChainKind::AnvilAt(url), None) => Anvil::claim(url, id, AnvilConfig::DEFAULT_TIMEOUT).await?,
            (ChainKind::Anvil(like), None) => {
                let config = AnvilConfig { chain_id: id, unix_s: template.genesis.starts_at, ..like.as_ref().clone() };
                Anvil::start(&config).await?
            }
            (ChainKind::Embedded, None) => return Err(ChainError::Unsupported("the embedded chain was not set up".to_owned())),
        };
        let opens_at = template.genesis.apply_after_latest(&mut anvil).await?;
        Ok((Box::new(anvil), opens_at))
    }
}
