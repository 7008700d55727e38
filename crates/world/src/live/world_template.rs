//! What the trials of one world share: set-up chains are made once per process and thawed per trial.

use super::world::{LiveWorld, Setup};
use crate::chain::genesis::Genesis;
use crate::chain::{Anvil, AnvilConfig, Chain, ChainError, Frozen};
use model::{Thing, Workspace, WorldFile};
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::OnceCell;

/// What the chains of a world run on.
#[derive(Debug, Clone, Default)]
pub enum ChainKind {
    /// revm in this process.
    #[default]
    Embedded,
    /// One Anvil per chain and trial, started like this at its first use; chain id and time are the world's.
    Anvil(Box<AnvilConfig>),
    /// An Anvil that already runs, empty, for one chain of one trial.
    AnvilAt(String),
}

#[derive(Debug)]
pub struct WorldTemplate {
    pub(super) workspace: Arc<Workspace>,
    name: String,
    kind: ChainKind,
    /// As the trials begin; whoever changes one has a copy.
    pub(super) things: Arc<Vec<Thing>>,
    sites: BTreeMap<u64, OnceCell<Arc<ChainTemplate>>>,
}

#[derive(Debug)]
pub(crate) struct ChainTemplate {
    pub genesis: Genesis,
    frozen: Option<Frozen>,
}

impl WorldTemplate {
    pub fn new(workspace: Arc<Workspace>, world: &str, kind: ChainKind) -> Result<Arc<Self>, String> {
        let file = workspace.world(world).ok_or_else(|| format!("there is no world {world}"))?;
        let sites = file.chains.iter().map(|id| (*id, OnceCell::new())).collect();
        let things = Arc::new(file.things.clone());
        Ok(Arc::new(Self { workspace: workspace.clone(), name: world.to_owned(), kind, things, sites }))
    }

    /// A world of its own for one trial; its chains are made when they are first touched.
    pub fn open(self: &Arc<Self>, setup: Setup) -> LiveWorld {
        LiveWorld::new(self.clone(), setup)
    }

    pub(super) fn file(&self) -> &WorldFile {
        // Looked up when the stage was made; workspaces do not change.
        self.workspace.world(&self.name).unwrap_or_else(|| panic!("world {} is gone", self.name))
    }

    pub(super) async fn site(&self, id: u64) -> Result<Arc<ChainTemplate>, ChainError> {
        let cell = self.sites.get(&id).ok_or_else(|| ChainError::Unsupported(format!("this world has no chain {id}")))?;
        cell.get_or_try_init(|| async {
            let genesis = Genesis::of(&self.workspace, self.file(), id)?;
            let frozen = match self.kind {
                ChainKind::Embedded => Some(genesis.embedded().await?),
                ChainKind::Anvil(_) | ChainKind::AnvilAt(_) => None,
            };
            Ok(Arc::new(ChainTemplate { genesis, frozen }))
        })
        .await
        .cloned()
    }

    pub(super) async fn chain(&self, site: &ChainTemplate) -> Result<Box<dyn Chain>, ChainError> {
        let id = site.genesis.book.chain;
        let mut anvil = match (&self.kind, &site.frozen) {
            (_, Some(frozen)) => return Ok(Box::new(frozen.thaw())),
            (ChainKind::AnvilAt(url), None) => Anvil::connect(url, id, AnvilConfig::TIME).await?,
            (ChainKind::Anvil(like), None) => {
                let config = AnvilConfig { chain_id: id, unix_s: site.genesis.starts_at, ..like.as_ref().clone() };
                Anvil::start(&config).await?
            }
            (ChainKind::Embedded, None) => return Err(ChainError::Unsupported("the embedded chain was not set up".to_owned())),
        };
        site.genesis.play(&mut anvil).await?;
        Ok(Box::new(anvil))
    }
}
