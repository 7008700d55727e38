//! Chains of one trial, opened on first use, with their clocks at the trial's time.

use super::args::{ToolArgs, scalar_text};
use super::tool_error::{ToolError, quote_value};
use super::trial_chain::TrialChain;
use super::tx_builder::TxBuilder;
use super::world_template::WorldTemplate;
use crate::chain::{ChainError, Tx};
use model::transcript::ToolErrorCode;
use model::{ChainRole, Location, ParamKind, Spanned, Tool, WorldObject};
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Debug)]
pub(super) struct TrialChains {
    template: Arc<WorldTemplate>,
    /// Objects of the world file, then those created in this trial.
    things: Arc<Vec<WorldObject>>,
    /// Transactions by chain id that are sent when the chain is opened.
    first_txs: BTreeMap<u64, Vec<Tx>>,
    open: BTreeMap<u64, TrialChain>,
}

/// A chain of the world that cannot be opened is a failure of its node, never of the caller.
fn node_failure(error: ChainError) -> ChainError {
    match error {
        ChainError::Node(why) | ChainError::Refused(why) | ChainError::Unsupported(why) => ChainError::Node(why),
    }
}

impl TrialChains {
    pub(super) fn new(template: Arc<WorldTemplate>, first_txs: BTreeMap<u64, Vec<Tx>>) -> Self {
        let things = template.things().clone();
        Self { template, things, first_txs, open: BTreeMap::new() }
    }

    /// Returns a chain with its clock at the trial's time.
    pub(super) async fn at(&mut self, id: u64, now_ms: u64) -> Result<&mut TrialChain, ChainError> {
        if !self.open.contains_key(&id) {
            let template = self.template.chain_template(id).await?;
            let (mut chain, opens_at) = self.template.open_chain(&template).await.map_err(node_failure)?;
            for tx in self.first_txs.get(&id).into_iter().flatten() {
                chain.send(tx).await?;
            }
            self.open.insert(id, TrialChain::open(template, chain, opens_at).await?);
        }
        let chain = self.open.get_mut(&id).ok_or_else(|| ChainError::Unsupported(format!("chain {id} is not supported")))?;
        chain.advance_to(now_ms).await?;
        Ok(chain)
    }

    /// Returns a [`TxBuilder`] for one chain.
    pub(super) async fn builder(&mut self, id: u64, now_ms: u64) -> Result<TxBuilder<'_>, ToolError> {
        self.at(id, now_ms).await?;
        let Self { template, things, open, .. } = self;
        let Some(chain) = open.get_mut(&id) else {
            return Err(ToolError::new(ToolErrorCode::RpcError, format!("chain {id} is not available")));
        };
        let (unix_s, clock_shift_s) = (chain.unix_s(now_ms).await?, chain.clock_shift_s());
        let (book, chain) = chain.parts();
        let (workspace, policy, operator) = (template.workspace(), template.policy()?, template.operator());
        Ok(TxBuilder { workspace, policy, operator, world: template.file(), book, chain, id, unix_s, clock_shift_s, things })
    }

    /// Returns the chain of a call: the one it names, that of an object it names, or the first with a contract of the tool's role.
    pub(super) fn chain_of(&self, tool: &Tool, args: &ToolArgs<'_>) -> Result<u64, ToolError> {
        let stated = args.first(|kind| matches!(kind, ParamKind::Chain(None | Some(ChainRole::Source))));
        if let Some((_, value)) = stated.filter(|(name, _)| args.as_map().contains_key(*name)) {
            return self.chain_by_name(&scalar_text(value));
        }
        for (_, _, value) in args.of_kind(|kind| matches!(kind, ParamKind::Id(_) | ParamKind::Address(_))) {
            let text = scalar_text(value);
            if let Some(thing) = self.things.iter().find(|thing| thing.id.eq_ignore_ascii_case(&text)) {
                return Ok(thing.chain);
            }
        }
        // The default chain comes after objects that the call names.
        if let Some((_, value)) = stated {
            return self.chain_by_name(&scalar_text(value));
        }
        let has_role = |id: &&u64| {
            let chain = self.template.workspace().chains.iter().find(|chain| chain.id == **id);
            tool.via.role.is_none_or(|role| chain.is_some_and(|chain| chain.contracts.iter().any(|contract| contract.role == role)))
        };
        let chains = &self.template.file().chains;
        let found = chains.iter().find(has_role).or(chains.first()).copied();
        found.ok_or_else(|| ToolError::new(ToolErrorCode::NoChain, "no chain is available"))
    }

    fn chain_by_name(&self, text: &str) -> Result<u64, ToolError> {
        let known = self.template.workspace().chain(text).map(|chain| chain.id);
        known
            .filter(|id| self.template.file().chains.contains(id))
            .ok_or_else(|| ToolError::new(ToolErrorCode::ChainNotSupported, format!("{} is not a supported chain", quote_value(text))))
    }

    /// Adds a position that the account opened and returns its id.
    pub(super) fn add_position(&mut self, chain: u64, assets: &[String]) -> String {
        let nowhere = || Location::new("", 0);
        let id = format!("position-{}", self.things.len() + 1);
        Arc::make_mut(&mut self.things).push(WorldObject {
            id: Spanned::new(id.clone(), nowhere()),
            is: "position".into(),
            chain,
            assets: assets.iter().map(|symbol| Spanned::new(symbol.clone(), nowhere())).collect(),
            role: None,
            contract: None,
            market: None,
            holds: None,
            owes: None,
            claimable: None,
        });
        id
    }
}
