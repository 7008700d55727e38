//! Chain of one trial: sends transactions and dry-runs them.

use super::own_changes::own_changes;
use super::world_template::ChainTemplate;
use crate::chain::{
    AddressBook, ChainBackend, ChainError, ChainLedger, LedgerTx, Receipt, Tx, TxStatus, TxSubmission, decode_effects, decode_mined,
    revert_name,
};
use alloy_primitives::B256;
use model::transcript::MinedTransaction;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

pub(super) struct TrialChain {
    template: Arc<ChainTemplate>,
    chain: Box<dyn ChainBackend>,
    ledger: ChainLedger,
    /// Unix time at which the trial starts.
    opens_at: u64,
    /// Dry runs by block number and calldata hash; state is constant between blocks.
    dry_runs: BTreeMap<(u64, String), DryRun>,
}

/// Outcome of a transaction that was run and rolled back.
#[derive(Debug, Clone)]
pub(super) struct DryRun {
    /// Error name if the transaction failed.
    pub error: Option<String>,
    pub gas_used: u64,
    pub changes: Value,
}

impl DryRun {
    /// Returns the outcome of a plan that sends no transaction.
    pub(super) fn empty() -> Self {
        Self { error: None, gas_used: 0, changes: json!([]) }
    }
}

/// Mined transaction.
#[derive(Debug)]
pub(super) struct MinedTx {
    pub hash: B256,
    pub receipt: Receipt,
    pub nonce: u64,
    pub decoded: Box<MinedTransaction>,
}

impl fmt::Debug for TrialChain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TrialChain").field("id", &self.address_book().chain).finish_non_exhaustive()
    }
}

impl TrialChain {
    pub(super) async fn open(template: Arc<ChainTemplate>, mut chain: Box<dyn ChainBackend>, opens_at: u64) -> Result<Self, ChainError> {
        let ledger = ChainLedger::new(chain.id(), chain.latest().await?);
        Ok(Self { template, chain, ledger, opens_at, dry_runs: BTreeMap::new() })
    }

    /// Returns the seconds by which a node of the user's moved the start of the trial, because its blocks are later.
    pub(super) fn clock_shift_s(&self) -> u64 {
        self.opens_at.saturating_sub(self.template.opens_at())
    }

    pub(super) fn ledger(&self) -> &ChainLedger {
        &self.ledger
    }

    pub(super) fn address_book(&self) -> &AddressBook {
        self.template.address_book()
    }

    pub(super) fn template(&self) -> &Arc<ChainTemplate> {
        &self.template
    }

    pub(super) fn node(&mut self) -> &mut dyn ChainBackend {
        self.chain.as_mut()
    }

    pub(super) fn parts(&mut self) -> (&AddressBook, &mut dyn ChainBackend) {
        (self.template.address_book(), self.chain.as_mut())
    }

    /// Sets the time of the next block; never moves it back.
    pub(super) async fn advance_to(&mut self, now_ms: u64) -> Result<(), ChainError> {
        let wanted = self.opens_at + now_ms / 1000;
        if wanted > self.chain.latest().await?.unix_s {
            self.chain.set_time(wanted).await?;
        }
        Ok(())
    }

    /// Returns the later of the trial's time and the latest block's timestamp.
    pub(super) async fn unix_s(&mut self, now_ms: u64) -> Result<u64, ChainError> {
        let latest = self.chain.latest().await?.unix_s;
        Ok(latest.max(self.opens_at + now_ms / 1000))
    }

    pub(super) async fn send(&mut self, submission: &TxSubmission) -> Result<MinedTx, ChainError> {
        let LedgerTx { hash, nonce, receipt, .. } = self.ledger.send(self.chain.as_mut(), submission).await?;
        self.dry_runs.clear();
        let decoded = Box::new(decode_mined(self.template.address_book(), &submission.tx, *nonce, receipt));
        Ok(MinedTx { hash: *hash, receipt: receipt.clone(), nonce: *nonce, decoded })
    }

    /// Runs a transaction and rolls it back. The outcome is cached until the next block.
    pub(super) async fn dry_run(&mut self, tx: &Tx, calldata_hash: &str) -> Result<DryRun, ChainError> {
        let key = (self.chain.latest().await?.number, calldata_hash.to_owned());
        if let Some(known) = self.dry_runs.get(&key) {
            return Ok(known.clone());
        }
        let before = self.chain.snapshot().await?;
        let receipt = self.chain.send(tx).await;
        self.chain.restore(before).await?;
        let receipt = receipt?;
        let changes = Value::Array(own_changes(&decode_effects(self.template.address_book(), tx, &receipt)));
        let dry_run = DryRun { error: failure_name(&receipt), gas_used: receipt.gas_used, changes };
        self.dry_runs.insert(key, dry_run.clone());
        Ok(dry_run)
    }
}

/// Returns the error name of a failed transaction.
pub(super) fn failure_name(receipt: &Receipt) -> Option<String> {
    match receipt.status {
        TxStatus::Success => None,
        TxStatus::Reverted => Some(revert_name(&receipt.output)),
        TxStatus::Halted => Some("halted".to_owned()),
    }
}
