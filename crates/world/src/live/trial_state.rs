//! Mutable state of one trial.

use super::account::AccountState;
use super::actions::ActionState;
use super::faults::TrialFaults;
use super::fixtures::{HoleFills, WorldFixtures};
use super::inbox::TrialInbox;
use super::memory::TrialMemory;
use super::record::TrialRecord;
use super::tool_error::ToolError;
use super::trial_chain::TrialChain;
use super::trial_chains::TrialChains;
use super::tx_builder::TxBuilder;
use super::world_settings::WorldSettings;
use super::world_template::WorldTemplate;
use crate::chain::genesis::{KEEPER, keeper_calls};
use crate::chain::{ChainError, Tx};
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Debug)]
pub(super) struct TrialState {
    pub setup: WorldSettings,
    pub record: TrialRecord,
    pub chains: TrialChains,
    pub actions: ActionState,
    pub account: AccountState,
    pub memory: TrialMemory,
    pub inbox: TrialInbox,
    pub faults: TrialFaults,
    /// Failure of the harness, not of the subject.
    pub harness_fault: Option<String>,
    /// First call of an imported tool without a recorded answer.
    pub missing_recording: Option<String>,
}

impl TrialState {
    pub(super) fn new(template: &Arc<WorldTemplate>, setup: WorldSettings) -> Self {
        let chains = TrialChains::new(template.clone(), stray_token_renames(template, &setup.fills));
        let faults = TrialFaults::new(setup.faults.clone());
        Self {
            setup,
            record: TrialRecord::new(template.world_operator().clone()),
            chains,
            actions: ActionState::default(),
            account: AccountState::default(),
            memory: TrialMemory::default(),
            inbox: TrialInbox::default(),
            faults,
            harness_fault: None,
            missing_recording: None,
        }
    }

    pub(super) fn now_ms(&self) -> u64 {
        self.record.now_ms()
    }

    pub(super) fn fixtures<'a>(&'a self, template: &'a WorldTemplate) -> WorldFixtures<'a> {
        WorldFixtures { workspace: template.workspace(), world: template.file(), fills: &self.setup.fills }
    }

    pub(super) async fn chain(&mut self, id: u64) -> Result<&mut TrialChain, ChainError> {
        self.chains.at(id, self.record.now_ms()).await
    }

    /// Keeps the failure of a chain's node as one of the harness, and returns it.
    pub(super) fn note_failure(&mut self, error: ChainError) -> ChainError {
        if let ChainError::Node(why) = &error {
            self.harness_fault.get_or_insert_with(|| why.clone());
        }
        error
    }

    pub(super) async fn builder(&mut self, id: u64) -> Result<TxBuilder<'_>, ToolError> {
        self.chains.builder(id, self.record.now_ms()).await
    }
}

/// Returns transactions by chain that write attack texts into the names and symbols of stray tokens.
fn stray_token_renames(template: &WorldTemplate, fills: &HoleFills) -> BTreeMap<u64, Vec<Tx>> {
    let fixtures = WorldFixtures { workspace: template.workspace(), world: template.file(), fills };
    let mut renames: BTreeMap<u64, Vec<Tx>> = BTreeMap::new();
    for token in &template.file().tokens {
        let mut reads = vec![];
        let (name, symbol) = (fixtures.text(&token.name, &mut reads), fixtures.text(&token.symbol, &mut reads));
        if reads.iter().any(|read| read.filled) {
            let tx = Tx::call(KEEPER, token.address.address, keeper_calls::rename(name, symbol));
            renames.entry(token.chain).or_default().push(tx);
        }
    }
    renames
}
