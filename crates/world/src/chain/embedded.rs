//! revm in process: a base state shared by all trials of a process, and a thin layer of changes per trial.

use super::{AccountChange, BASE_FEE, BLOCK_GAS, Block, Chain, ChainError, Changes, Log, Outcome, Receipt, Snapshot, Status, Tx};
use alloy_primitives::{Address, B256, Bytes, TxKind, U256};
use async_trait::async_trait;
use revm::context::result::{EVMError, ExecutionResult, Output, ResultAndState};
use revm::context::{BlockEnv, TxEnv};
use revm::context_interface::either::Either;
use revm::database::{Cache, CacheDB, EmptyDB};
use revm::primitives::hardfork::SpecId;
use revm::state::{AccountInfo, Bytecode, EvmState};
use revm::{Context, Database, DatabaseCommit, DatabaseRef, ExecuteEvm, MainBuilder, MainContext};
use std::convert::Infallible;
use std::sync::Arc;

type Base = CacheDB<EmptyDB>;
type State = CacheDB<Arc<Base>>;

/// A chain whose set-up is done: cheap to make trial chains from, shared between them.
#[derive(Debug, Clone)]
pub struct Frozen {
    id: u64,
    base: Arc<Base>,
    latest: Block,
}

impl Frozen {
    /// A chain of its own on top of the shared state. Dropping it is all the clean-up there is.
    pub fn thaw(&self) -> Embedded {
        Embedded { id: self.id, state: CacheDB::new(self.base.clone()), latest: self.latest, next_time: None, kept: vec![] }
    }
}

#[derive(Debug)]
pub struct Embedded {
    id: u64,
    state: State,
    latest: Block,
    next_time: Option<u64>,
    kept: Vec<Kept>,
}

#[derive(Debug)]
struct Kept {
    cache: Cache,
    latest: Block,
    next_time: Option<u64>,
}

impl Embedded {
    /// An empty chain that starts at this time.
    pub fn new(id: u64, unix_s: u64) -> Self {
        let base = Arc::new(Base::default());
        Self { id, state: CacheDB::new(base), latest: Block { number: 0, unix_s }, next_time: None, kept: vec![] }
    }

    /// Ends the set-up.
    pub fn freeze(self) -> Frozen {
        let mut base = Base::default();
        let Self { id, state, latest, .. } = self;
        let outer = CacheDB { cache: state.cache, db: Arc::unwrap_or_clone(state.db) };
        let flat = outer.flatten();
        base.cache = flat.cache;
        Frozen { id, base: Arc::new(base), latest }
    }

    fn next_block(&self) -> Block {
        let unix_s = self.next_time.unwrap_or(self.latest.unix_s + 1);
        Block { number: self.latest.number + 1, unix_s }
    }

    fn environment(&self, block: Block) -> BlockEnv {
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

    /// Runs a transaction on the state as it is; the caller decides whether to keep the changes.
    fn execute(&mut self, tx: &Tx, free: bool) -> Result<ResultAndState, ChainError> {
        // revm runs it, but no transaction of that type can be written down.
        if tx.to.is_none() && !tx.authorizations.is_empty() {
            return Err(ChainError::Refused("a creation cannot carry authorisations (EIP-7702)".to_owned()));
        }
        let nonce = match tx.nonce {
            Some(nonce) if !free => nonce,
            Some(_) | None => read(self.state.basic_ref(tx.from))?.map_or(0, |account| account.nonce),
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
        let block = self.environment(self.next_block());
        let mut evm = Context::mainnet()
            .with_db(&mut self.state)
            .with_block(block)
            .modify_cfg_chained(|cfg| {
                cfg.set_spec_and_mainnet_gas_params(SpecId::PRAGUE);
                cfg.chain_id = self.id;
                // Accounts with code may send: agents' accounts do.
                cfg.disable_eip3607 = true;
                cfg.disable_base_fee = free;
                cfg.disable_balance_check = free;
            })
            .build_mainnet();
        evm.transact(typed).map_err(refused)
    }
}

fn refused(error: EVMError<Infallible>) -> ChainError {
    ChainError::Refused(error.to_string())
}

fn read<T>(result: Result<T, Infallible>) -> Result<T, ChainError> {
    result.map_err(|never| match never {})
}

#[async_trait]
impl Chain for Embedded {
    fn id(&self) -> u64 {
        self.id
    }

    async fn send(&mut self, tx: &Tx) -> Result<Receipt, ChainError> {
        let block = self.next_block();
        let ResultAndState { result, state } = self.execute(tx, false)?;
        let changes = self.changes(&state)?;
        self.state.commit(state);
        self.latest = block;
        self.next_time = None;
        let outcome = outcome(&result);
        let logs = match result {
            ExecutionResult::Success { logs, .. } => logs
                .into_iter()
                .map(|log| Log { address: log.address, topics: log.data.topics().to_vec(), data: log.data.data.clone() })
                .collect(),
            ExecutionResult::Revert { .. } | ExecutionResult::Halt { .. } => vec![],
        };
        Ok(Receipt { status: outcome.status, gas_used: outcome.gas_used, output: outcome.output, logs, block, changes })
    }

    async fn call(&mut self, tx: &Tx) -> Result<Outcome, ChainError> {
        self.execute(tx, true).map(|done| outcome(&done.result))
    }

    async fn balance(&mut self, of: Address) -> Result<U256, ChainError> {
        Ok(read(self.state.basic_ref(of))?.map_or(U256::ZERO, |account| account.balance))
    }

    async fn nonce(&mut self, of: Address) -> Result<u64, ChainError> {
        Ok(read(self.state.basic_ref(of))?.map_or(0, |account| account.nonce))
    }

    async fn code(&mut self, of: Address) -> Result<Bytes, ChainError> {
        let Some(account) = read(self.state.basic_ref(of))? else { return Ok(Bytes::new()) };
        let code = match account.code {
            Some(code) => code,
            None => read(self.state.code_by_hash_ref(account.code_hash))?,
        };
        Ok(code.original_bytes())
    }

    async fn storage(&mut self, of: Address, slot: U256) -> Result<B256, ChainError> {
        Ok(read(self.state.storage_ref(of, slot))?.into())
    }

    async fn latest(&mut self) -> Result<Block, ChainError> {
        Ok(self.latest)
    }

    async fn set_time(&mut self, unix_s: u64) -> Result<(), ChainError> {
        if unix_s <= self.latest.unix_s {
            return Err(ChainError::Refused(format!("time {unix_s} does not lie after the latest block at {}", self.latest.unix_s)));
        }
        self.next_time = Some(unix_s);
        Ok(())
    }

    async fn snapshot(&mut self) -> Result<Snapshot, ChainError> {
        self.kept.push(Kept { cache: self.state.cache.clone(), latest: self.latest, next_time: self.next_time });
        Ok(Snapshot(self.kept.len() as u64 - 1))
    }

    async fn restore(&mut self, to: Snapshot) -> Result<(), ChainError> {
        let at = usize::try_from(to.0).unwrap_or(usize::MAX);
        if at >= self.kept.len() {
            return Err(ChainError::Refused(format!("snapshot {} is gone", to.0)));
        }
        self.kept.truncate(at + 1);
        if let Some(kept) = self.kept.pop() {
            self.state.cache = kept.cache;
            self.latest = kept.latest;
            self.next_time = kept.next_time;
        }
        Ok(())
    }

    async fn etch(&mut self, at: Address, code: Bytes) -> Result<(), ChainError> {
        let code = Bytecode::new_raw_checked(code).map_err(|error| ChainError::Refused(error.to_string()))?;
        let mut account = read(self.state.basic(at))?.unwrap_or_default();
        account.code_hash = code.hash_slow();
        account.code = Some(code);
        self.state.insert_account_info(at, account);
        Ok(())
    }

    async fn set_balance(&mut self, of: Address, wei: U256) -> Result<(), ChainError> {
        let mut account = read(self.state.basic(of))?.unwrap_or_default();
        account.balance = wei;
        self.state.insert_account_info(of, account);
        Ok(())
    }
}

impl Embedded {
    /// What the transaction is about to change, compared with the state before it.
    fn changes(&self, state: &EvmState) -> Result<Changes, ChainError> {
        let mut changes = Changes::default();
        for (address, account) in state.iter().filter(|(_, account)| account.is_touched()) {
            let before = read(self.state.basic_ref(*address))?.unwrap_or_default();
            // Created and destroyed at once: nothing of it stays.
            let gone = account.is_selfdestructed();
            let after = if gone { &AccountInfo::default() } else { &account.info };
            let change = AccountChange {
                balance: differ(before.balance, after.balance),
                nonce: differ(before.nonce, after.nonce),
                code: differ(before.code_hash, after.code_hash),
                storage: account
                    .storage
                    .iter()
                    .filter(|(_, slot)| slot.is_changed() && !gone)
                    .map(|(key, slot)| (*key, (slot.original_value(), slot.present_value())))
                    .collect(),
            };
            if !change.is_empty() {
                changes.accounts.insert(*address, change);
            }
        }
        Ok(changes)
    }
}

fn differ<T: PartialEq>(before: T, after: T) -> Option<(T, T)> {
    (before != after).then_some((before, after))
}

fn outcome(result: &ExecutionResult) -> Outcome {
    let gas_used = result.tx_gas_used();
    match result {
        ExecutionResult::Success { output, .. } => {
            let output = match output {
                Output::Call(data) | Output::Create(data, _) => data.clone(),
            };
            Outcome { status: Status::Success, gas_used, output }
        }
        ExecutionResult::Revert { output, .. } => Outcome { status: Status::Reverted, gas_used, output: output.clone() },
        ExecutionResult::Halt { .. } => Outcome { status: Status::Halted, gas_used, output: Bytes::new() },
    }
}
