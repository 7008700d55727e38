//! In-process chain on stock revm: a base state shared by all trials of a process, and an overlay with the changes of one trial.

mod state;
mod transact;

use super::{AccessedState, BASE_FEE, BLOCK_GAS, BlockInfo, CallOutcome, ChainBackend, ChainError, Log, Receipt, SnapshotId, Tx, TxStatus};
use alloy_primitives::{Address, B256, Bytes, TxKind, U256};
use async_trait::async_trait;
use revm::context::result::{ExecutionResult, Output, ResultAndState};
use revm::context::{BlockEnv, TxEnv};
use revm::context_interface::either::Either;
use revm::state::{AccountInfo, Bytecode};
use state::{BaseState, OverlayDb, StateOverlay};
use std::sync::Arc;
use transact::{TxRun, changes};

/// Chain after its set-up, shared by trials. Each trial thaws its own [`EmbeddedChain`] from it.
#[derive(Debug, Clone)]
pub struct FrozenChain {
    id: u64,
    base: Arc<BaseState>,
    latest: BlockInfo,
}

impl FrozenChain {
    /// Returns a chain with an empty overlay on the shared state.
    pub fn thaw(&self) -> EmbeddedChain {
        EmbeddedChain {
            id: self.id,
            base: self.base.clone(),
            overlay: StateOverlay::default(),
            latest: self.latest,
            next_time: None,
            saved: vec![],
        }
    }
}

#[derive(Debug)]
pub struct EmbeddedChain {
    id: u64,
    base: Arc<BaseState>,
    overlay: StateOverlay,
    latest: BlockInfo,
    next_time: Option<u64>,
    saved: Vec<SavedState>,
}

#[derive(Debug)]
struct SavedState {
    overlay: StateOverlay,
    latest: BlockInfo,
    next_time: Option<u64>,
}

impl EmbeddedChain {
    /// Creates an empty chain that starts at this time.
    pub fn new(id: u64, unix_s: u64) -> Self {
        let latest = BlockInfo { number: 0, unix_s };
        Self { id, base: Arc::default(), overlay: StateOverlay::default(), latest, next_time: None, saved: vec![] }
    }

    /// Ends the set-up and makes the state shareable.
    pub fn freeze(self) -> FrozenChain {
        let Self { id, base, overlay, latest, .. } = self;
        FrozenChain { id, base: Arc::new(Arc::unwrap_or_clone(base).merged_with(overlay)), latest }
    }

    fn next_block(&self) -> BlockInfo {
        let unix_s = self.next_time.unwrap_or(self.latest.unix_s + 1);
        BlockInfo { number: self.latest.number + 1, unix_s }
    }

    fn environment(&self, block: BlockInfo) -> BlockEnv {
        BlockEnv {
            number: U256::from(block.number),
            beneficiary: Address::ZERO,
            timestamp: U256::from(block.unix_s),
            gas_limit: BLOCK_GAS,
            basefee: BASE_FEE,
            prevrandao: Some(B256::ZERO),
            ..BlockEnv::default()
        }
    }

    fn info(&self, of: Address) -> Option<&AccountInfo> {
        self.overlay.info(&self.base, of)
    }

    fn prepare(&self, tx: &Tx, free: bool) -> Result<TxRun, ChainError> {
        // revm runs it, but EIP-7702 transactions without a recipient cannot be encoded.
        if tx.to.is_none() && !tx.authorizations.is_empty() {
            return Err(ChainError::Refused("a contract creation cannot carry authorizations (EIP-7702)".to_owned()));
        }
        let nonce = match tx.nonce {
            Some(nonce) if !free => nonce,
            Some(_) | None => self.info(tx.from).map_or(0, |account| account.nonce),
        };
        let typed = TxEnv {
            tx_type: if tx.authorizations.is_empty() { 2 } else { 4 },
            caller: tx.from,
            gas_limit: tx.gas_limit(),
            gas_price: if free { 0 } else { u128::from(BASE_FEE) },
            gas_priority_fee: Some(0),
            kind: tx.to.map_or(TxKind::Create, TxKind::Call),
            value: tx.value,
            data: tx.data.clone(),
            nonce,
            chain_id: Some(self.id),
            authorization_list: tx.authorizations.iter().cloned().map(Either::Left).collect(),
            ..TxEnv::default()
        };
        Ok(TxRun { chain: self.id, block: self.environment(self.next_block()), tx: typed, free })
    }

    fn db(&self) -> OverlayDb<'_> {
        OverlayDb { chain: self.id, base: &self.base, overlay: &self.overlay }
    }

    /// Runs a transaction on the current state without committing it.
    fn execute(&self, tx: &Tx, free: bool) -> Result<ResultAndState, ChainError> {
        self.prepare(tx, free)?.transact(self.db()).map_err(|error| ChainError::Refused(error.to_string()))
    }
}

#[async_trait]
impl ChainBackend for EmbeddedChain {
    fn id(&self) -> u64 {
        self.id
    }

    async fn send(&mut self, tx: &Tx) -> Result<Receipt, ChainError> {
        let block = self.next_block();
        let ResultAndState { result, state } = self.execute(tx, false)?;
        let changes = changes(self.db(), &state);
        for address in changes.accounts.keys() {
            self.overlay.commit(*address, &state[address]);
        }
        self.latest = block;
        self.next_time = None;
        let outcome = outcome(&result);
        let logs = match result {
            ExecutionResult::Success { logs, .. } => {
                logs.into_iter().map(|log| Log { address: log.address, topics: log.data.topics().to_vec(), data: log.data.data }).collect()
            }
            ExecutionResult::Revert { .. } | ExecutionResult::Halt { .. } => vec![],
        };
        Ok(Receipt { status: outcome.status, gas_used: outcome.gas_used, output: outcome.output, logs, block, changes })
    }

    async fn call(&mut self, tx: &Tx) -> Result<CallOutcome, ChainError> {
        self.execute(tx, true).map(|done| outcome(&done.result))
    }

    async fn accessed(&mut self, tx: &Tx) -> Result<AccessedState, ChainError> {
        let state = self.execute(tx, true)?.state;
        Ok(state.iter().map(|(at, account)| (*at, account.storage.keys().map(|slot| (*slot).into()).collect())).collect())
    }

    async fn mine_empty(&mut self, blocks: u64) -> Result<(), ChainError> {
        self.latest.number += blocks;
        Ok(())
    }

    async fn balance(&mut self, of: Address) -> Result<U256, ChainError> {
        Ok(self.info(of).map_or(U256::ZERO, |account| account.balance))
    }

    async fn nonce(&mut self, of: Address) -> Result<u64, ChainError> {
        Ok(self.info(of).map_or(0, |account| account.nonce))
    }

    async fn code(&mut self, of: Address) -> Result<Bytes, ChainError> {
        let code = self.info(of).and_then(|account| account.code.as_ref());
        Ok(code.map(Bytecode::original_bytes).unwrap_or_default())
    }

    async fn storage(&mut self, of: Address, slot: U256) -> Result<B256, ChainError> {
        Ok(self.overlay.slot(&self.base, of, slot).into())
    }

    async fn latest(&mut self) -> Result<BlockInfo, ChainError> {
        Ok(self.latest)
    }

    async fn set_time(&mut self, unix_s: u64) -> Result<(), ChainError> {
        if unix_s <= self.latest.unix_s {
            return Err(ChainError::Refused(format!("time {unix_s} is not after the latest block at {}", self.latest.unix_s)));
        }
        self.next_time = Some(unix_s);
        Ok(())
    }

    async fn snapshot(&mut self) -> Result<SnapshotId, ChainError> {
        self.saved.push(SavedState { overlay: self.overlay.clone(), latest: self.latest, next_time: self.next_time });
        Ok(SnapshotId(self.saved.len() as u64 - 1))
    }

    async fn restore(&mut self, to: SnapshotId) -> Result<(), ChainError> {
        let at = usize::try_from(to.0).unwrap_or(usize::MAX);
        if at >= self.saved.len() {
            return Err(ChainError::Refused(format!("snapshot {} no longer exists", to.0)));
        }
        self.saved.truncate(at + 1);
        if let Some(SavedState { overlay, latest, next_time }) = self.saved.pop() {
            (self.overlay, self.latest, self.next_time) = (overlay, latest, next_time);
        }
        Ok(())
    }

    async fn etch(&mut self, at: Address, code: Bytes) -> Result<(), ChainError> {
        let code = Bytecode::new_raw_checked(code).map_err(|error| ChainError::Refused(error.to_string()))?;
        let mut account = self.info(at).cloned().unwrap_or_default();
        account.code_hash = code.hash_slow();
        account.code = Some(code);
        self.overlay.set(at, account);
        Ok(())
    }

    async fn set_balance(&mut self, of: Address, wei: U256) -> Result<(), ChainError> {
        let mut account = self.info(of).cloned().unwrap_or_default();
        account.balance = wei;
        self.overlay.set(of, account);
        Ok(())
    }
}

fn outcome(result: &ExecutionResult) -> CallOutcome {
    let gas_used = result.tx_gas_used();
    match result {
        ExecutionResult::Success { output, .. } => {
            let output = match output {
                Output::Call(data) | Output::Create(data, _) => data.clone(),
            };
            CallOutcome { status: TxStatus::Success, gas_used, output }
        }
        ExecutionResult::Revert { output, .. } => CallOutcome { status: TxStatus::Reverted, gas_used, output: output.clone() },
        ExecutionResult::Halt { .. } => CallOutcome { status: TxStatus::Halted, gas_used, output: Bytes::new() },
    }
}
