//! Plain revm with a `CacheDB`, as in its documentation: the reference for the embedded chain.

use crate::chain::CHAIN;
use alloy_primitives::{Address, B256, Bytes, TxKind, U256};
use async_trait::async_trait;
use bardo_eval_world::chain::{
    AccessedState, AccountChange, BASE_FEE, BLOCK_GAS, BlockInfo, CallOutcome, ChainBackend, ChainError, Log, Receipt, SnapshotId,
    StateChanges, Tx, TxStatus,
};
use revm::context::result::{ExecutionResult, ResultAndState};
use revm::context::{BlockEnv, TxEnv};
use revm::context_interface::either::Either;
use revm::database::{CacheDB, EmptyDB};
use revm::primitives::hardfork::SpecId;
use revm::state::{AccountInfo, Bytecode, EvmState};
use revm::{Context, DatabaseCommit, DatabaseRef, ExecuteEvm, MainBuilder, MainContext};

#[derive(Debug, Clone)]
pub(crate) struct PlainRevm {
    db: CacheDB<EmptyDB>,
    latest: BlockInfo,
    next_time: Option<u64>,
    saved: Vec<PlainRevm>,
}

impl PlainRevm {
    pub(crate) fn new(unix_s: u64) -> Self {
        Self { db: CacheDB::default(), latest: BlockInfo { number: 0, unix_s }, next_time: None, saved: vec![] }
    }

    fn info(&self, of: Address) -> AccountInfo {
        self.db.basic_ref(of).unwrap().unwrap_or_default()
    }

    fn set(&mut self, of: Address, info: AccountInfo) {
        self.db.insert_account_info(of, info);
    }

    fn next_block(&self) -> BlockInfo {
        BlockInfo { number: self.latest.number + 1, unix_s: self.next_time.unwrap_or(self.latest.unix_s + 1) }
    }

    fn transact(&mut self, tx: &Tx, free: bool) -> Result<ResultAndState, ChainError> {
        if tx.to.is_none() && !tx.authorizations.is_empty() {
            return Err(ChainError::Refused("a creation with authorisations".into()));
        }
        let block = self.next_block();
        let nonce = tx.nonce.filter(|_| !free).unwrap_or(self.info(tx.from).nonce);
        let mut evm = Context::mainnet()
            .with_db(&mut self.db)
            .with_block(BlockEnv {
                number: U256::from(block.number),
                timestamp: U256::from(block.unix_s),
                gas_limit: BLOCK_GAS,
                basefee: BASE_FEE,
                prevrandao: Some(B256::ZERO),
                ..BlockEnv::default()
            })
            .modify_cfg_chained(|cfg| {
                cfg.set_spec_and_mainnet_gas_params(SpecId::PRAGUE);
                cfg.chain_id = CHAIN;
                cfg.disable_eip3607 = true;
                (cfg.disable_base_fee, cfg.disable_balance_check) = (free, free);
            })
            .build_mainnet();
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
            chain_id: Some(CHAIN),
            authorization_list: tx.authorizations.iter().cloned().map(Either::Left).collect(),
            ..TxEnv::default()
        };
        evm.transact(typed).map_err(|error| ChainError::Refused(error.to_string()))
    }

    /// Compares the database before and after a commit, account by account.
    fn commit(&mut self, state: EvmState) -> StateChanges {
        let before = self.db.clone();
        self.db.commit(state.clone());
        let mut changes = StateChanges::default();
        #[expect(clippy::iter_over_hash_type, reason = "the result is sorted")]
        for (address, account) in state {
            let (was, is) = (before.basic_ref(address).unwrap().unwrap_or_default(), self.info(address));
            let slots = account
                .storage
                .keys()
                .map(|at| (*at, before.storage_ref(address, *at).unwrap(), self.db.storage_ref(address, *at).unwrap()));
            let change = AccountChange {
                balance: (was.balance != is.balance).then_some((was.balance, is.balance)),
                nonce: (was.nonce != is.nonce).then_some((was.nonce, is.nonce)),
                code: (was.code_hash != is.code_hash).then_some((was.code_hash, is.code_hash)),
                storage: slots.filter(|(_, was, is)| was != is).map(|(at, was, is)| (at, (was, is))).collect(),
            };
            if !change.is_empty() {
                changes.accounts.insert(address, change);
            }
        }
        changes
    }
}

fn outcome(result: &ExecutionResult) -> CallOutcome {
    let status = match result {
        ExecutionResult::Success { .. } => TxStatus::Success,
        ExecutionResult::Revert { .. } => TxStatus::Reverted,
        ExecutionResult::Halt { .. } => TxStatus::Halted,
    };
    CallOutcome { status, gas_used: result.tx_gas_used(), output: result.output().cloned().unwrap_or_default() }
}

#[async_trait]
impl ChainBackend for PlainRevm {
    fn id(&self) -> u64 {
        CHAIN
    }

    async fn send(&mut self, tx: &Tx) -> Result<Receipt, ChainError> {
        let block = self.next_block();
        let ResultAndState { result, state } = self.transact(tx, false)?;
        let changes = self.commit(state);
        (self.latest, self.next_time) = (block, None);
        let CallOutcome { status, gas_used, output } = outcome(&result);
        let logs = result.into_logs().into_iter();
        let logs = logs.map(|log| Log { address: log.address, topics: log.data.topics().to_vec(), data: log.data.data }).collect();
        Ok(Receipt { status, gas_used, output, logs, block, changes })
    }

    async fn call(&mut self, tx: &Tx) -> Result<CallOutcome, ChainError> {
        self.transact(tx, true).map(|done| outcome(&done.result))
    }

    async fn accessed(&mut self, tx: &Tx) -> Result<AccessedState, ChainError> {
        let state = self.transact(tx, true)?.state;
        Ok(state.into_iter().map(|(at, account)| (at, account.storage.into_keys().map(B256::from).collect())).collect())
    }

    async fn mine_empty(&mut self, blocks: u64) -> Result<(), ChainError> {
        self.latest.number += blocks;
        Ok(())
    }

    async fn balance(&mut self, of: Address) -> Result<U256, ChainError> {
        Ok(self.info(of).balance)
    }

    async fn nonce(&mut self, of: Address) -> Result<u64, ChainError> {
        Ok(self.info(of).nonce)
    }

    async fn code(&mut self, of: Address) -> Result<Bytes, ChainError> {
        Ok(self.db.code_by_hash_ref(self.info(of).code_hash).unwrap().original_bytes())
    }

    async fn storage(&mut self, of: Address, slot: U256) -> Result<B256, ChainError> {
        Ok(self.db.storage_ref(of, slot).unwrap().into())
    }

    async fn latest(&mut self) -> Result<BlockInfo, ChainError> {
        Ok(self.latest)
    }

    async fn set_time(&mut self, unix_s: u64) -> Result<(), ChainError> {
        if unix_s <= self.latest.unix_s {
            return Err(ChainError::Refused("not after the latest block".into()));
        }
        self.next_time = Some(unix_s);
        Ok(())
    }

    async fn snapshot(&mut self) -> Result<SnapshotId, ChainError> {
        let saved = Self { saved: vec![], ..self.clone() };
        self.saved.push(saved);
        Ok(SnapshotId(self.saved.len() as u64 - 1))
    }

    async fn restore(&mut self, to: SnapshotId) -> Result<(), ChainError> {
        let mut saved = std::mem::take(&mut self.saved);
        saved.truncate(to.0 as usize + 1);
        *self = saved.pop().ok_or_else(|| ChainError::Refused("no such snapshot".into()))?;
        self.saved = saved;
        Ok(())
    }

    async fn etch(&mut self, at: Address, code: Bytes) -> Result<(), ChainError> {
        let code = Bytecode::new_raw_checked(code).map_err(|error| ChainError::Refused(error.to_string()))?;
        let info = AccountInfo { code_hash: code.hash_slow(), code: Some(code), ..self.info(at) };
        self.set(at, info);
        Ok(())
    }

    async fn set_balance(&mut self, of: Address, wei: U256) -> Result<(), ChainError> {
        let info = AccountInfo { balance: wei, ..self.info(of) };
        self.set(of, info);
        Ok(())
    }
}
