//! One EVM per thread and base, kept between transactions: what it has read of the base stays read.
//!
//! revm's journal holds every account and slot it has loaded, knows which transaction changed what, and can take a transaction back. So a
//! transaction is run, its changes are read out of the journal, and then it is discarded: the journal is again a copy of the base, and the
//! next trial neither loads nor allocates. What a trial has changed so far is laid over that copy before a run and lifted off after it.

use super::evm::Evm;
use super::state::{Base, Layer, Sight};
use crate::chain::{AccountChange, Changes};
use alloy_primitives::map::AddressMap;
use revm::context::journal::JournalInner;
use revm::context::result::{EVMError, ExecutionResult, HaltReason, ResultGas};
use revm::context::{BlockEnv, ContextTr, LocalContextTr, TxEnv};
use revm::context_interface::context::take_error;
use revm::handler::{EvmTr, FrameResult, Handler, post_execution};
use revm::primitives::hardfork::SpecId;
use revm::state::{Account, AccountInfo, EvmState, EvmStorageSlot, TransactionId};
use revm::{Context, JournalEntry, MainBuilder, MainContext};
use std::cell::RefCell;
use std::convert::Infallible;
use std::sync::Arc;

type Refusal = EVMError<Infallible>;

/// How many bases a thread remembers: the chains of a world, and a few worlds.
const BASES: usize = 8;
/// A layer heavier than this is read through instead of being laid on: setting a world up writes thousands of slots.
const LIGHT: usize = 256;
/// After so many loads everything is forgotten, so that reading at random places cannot grow the copy without end.
const LOADS: usize = 200_000;

thread_local! {
    static ENGINES: RefCell<Vec<Engine>> = const { RefCell::new(vec![]) };
}

/// A transaction with the terms it runs on.
pub(super) struct Job {
    pub(super) chain: u64,
    pub(super) block: BlockEnv,
    pub(super) tx: TxEnv,
    /// Nobody pays for it: a call that only looks.
    pub(super) free: bool,
}

pub(super) struct Done {
    pub(super) result: ExecutionResult,
    pub(super) changes: Changes,
    /// Accounts that were created, given code or destroyed.
    pub(super) anew: AddressMap<Option<AccountInfo>>,
}

/// Runs a transaction on base and layer; neither changes.
pub(super) fn run(base: &Arc<Base>, layer: &mut Layer, job: Job) -> Result<Done, Refusal> {
    ENGINES.with_borrow_mut(|engines| {
        match engines.iter().position(|engine| Arc::ptr_eq(&engine.base, base)) {
            Some(at) => engines[..=at].rotate_right(1),
            None => {
                engines.truncate(BASES - 1);
                engines.insert(0, Engine::new(base.clone()));
            }
        }
        engines[0].run(layer, job)
    })
}

struct Engine {
    base: Arc<Base>,
    evm: Evm,
    loads: usize,
}

impl Engine {
    fn new(base: Arc<Base>) -> Self {
        let mut evm = Context::mainnet()
            .with_db(Sight { base: base.clone(), layer: Layer::default() })
            .modify_cfg_chained(|cfg| {
                cfg.set_spec_and_mainnet_gas_params(SpecId::PRAGUE);
                // Accounts with code may send: agents' accounts do.
                cfg.disable_eip3607 = true;
            })
            .build_mainnet();
        // From now on whatever bears the first transaction's number is cold.
        evm.ctx.journaled_state.inner.discard_tx();
        Self { base, evm: Evm::new(evm), loads: 0 }
    }

    fn run(&mut self, layer: &mut Layer, Job { chain, block, tx, free }: Job) -> Result<Done, Refusal> {
        let light = layer.weight <= LIGHT;
        if light {
            self.lay(layer);
        } else {
            self.copy().clear();
        }
        let ctx = &mut self.evm.inner.ctx;
        (ctx.block, ctx.tx) = (block, tx);
        ctx.cfg.chain_id = chain;
        (ctx.cfg.disable_base_fee, ctx.cfg.disable_balance_check) = (free, free);
        std::mem::swap(layer, &mut ctx.journaled_state.database.layer);
        let ran = Uncommitted.run(&mut self.evm);
        let done = ran.map(|result| self.read(result));
        let journal = &mut self.evm.inner.ctx.journaled_state;
        std::mem::swap(layer, &mut journal.database.layer);
        self.loads += journal.inner.journal.len();
        // What creates, destroys or gives code is rare; a refused transaction, too. None of them is worth a subtle copy.
        let plain = done.as_ref().is_ok_and(|done| done.anew.is_empty());
        // Warmth wears off by itself: it counts only with the number of the transaction.
        journal.inner.journal.retain(|entry| !matches!(entry, JournalEntry::AccountWarmed { .. } | JournalEntry::StorageWarmed { .. }));
        journal.inner.discard_tx();
        if light && plain && self.loads < LOADS {
            self.lift(layer);
        } else {
            self.copy().clear();
            self.loads = 0;
        }
        done
    }

    fn copy(&mut self) -> &mut EvmState {
        &mut self.evm.inner.ctx.journaled_state.inner.state
    }

    fn lay(&mut self, layer: &Layer) {
        let base = self.base.clone();
        let copy = self.copy();
        #[expect(clippy::iter_over_hash_type, reason = "each account goes to its own place")]
        for (address, altered) in &layer.accounts {
            let Some(info) = altered.info.as_ref().filter(|_| !altered.cleared && base.info(*address).is_some()) else {
                copy.remove(address);
                continue;
            };
            let account = copy.entry(*address).or_insert_with(|| Account::from(info.clone()));
            account.info.clone_from(info);
            let slots = altered.storage.iter().map(|(at, value)| (*at, EvmStorageSlot::new(*value, TransactionId::ZERO)));
            account.storage.extend(slots);
        }
    }

    fn lift(&mut self, layer: &Layer) {
        let base = self.base.clone();
        let copy = self.copy();
        #[expect(clippy::iter_over_hash_type, reason = "each account goes to its own place")]
        for (address, altered) in &layer.accounts {
            let Some(info) = base.info(*address).filter(|_| !altered.cleared && altered.info.is_some()) else {
                copy.remove(address);
                continue;
            };
            let Some(account) = copy.get_mut(address) else { continue };
            account.info.clone_from(info);
            #[expect(clippy::iter_over_hash_type, reason = "all of them go")]
            for at in altered.storage.keys() {
                account.storage.remove(at);
            }
        }
    }

    /// What the transaction is about to change: only what its journal names is looked at.
    fn read(&self, result: ExecutionResult) -> Done {
        let Sight { base, layer } = &self.evm.inner.ctx.journaled_state.database;
        let JournalInner { state, journal, .. } = &self.evm.inner.ctx.journaled_state.inner;
        let mut done = Done { result, changes: Changes::default(), anew: AddressMap::default() };
        let mut named: Vec<_> = journal.iter().filter_map(counted).flatten().collect();
        named.sort_unstable();
        named.dedup();
        for address in named {
            let Some(account) = state.get(&address) else { continue };
            let before = layer.info(base, address);
            let (gone, nothing) = (account.is_selfdestructed(), AccountInfo::default());
            let (before, after) = (before.unwrap_or(&nothing), if gone { &nothing } else { &account.info });
            let change = AccountChange {
                balance: differ(before.balance, after.balance),
                nonce: differ(before.nonce, after.nonce),
                code: differ(before.code_hash, after.code_hash),
                storage: Default::default(),
            };
            if !change.is_empty() {
                done.changes.accounts.insert(address, change);
            }
            if gone || account.is_created() || before.code_hash != after.code_hash {
                done.anew.insert(address, (!gone).then(|| account.info.clone()));
            }
        }
        for entry in journal {
            let JournalEntry::StorageChanged { address, key, .. } = entry else { continue };
            let account = state.get(address).filter(|account| !account.is_selfdestructed());
            let Some(slot) = account.and_then(|account| account.storage.get(key)).filter(|slot| slot.is_changed()) else { continue };
            let change = done.changes.accounts.entry(*address).or_default();
            change.storage.insert(*key, (slot.original_value(), slot.present_value()));
        }
        done
    }
}

/// The accounts whose balance, nonce or code an entry concerns.
fn counted(entry: &JournalEntry) -> Option<impl Iterator<Item = alloy_primitives::Address>> {
    let (one, other) = match entry {
        JournalEntry::BalanceTransfer { from, to, .. } => (*from, Some(*to)),
        JournalEntry::AccountDestroyed { address, target, .. } => (*address, Some(*target)),
        JournalEntry::BalanceChange { address, .. }
        | JournalEntry::NonceChange { address, .. }
        | JournalEntry::NonceBump { address }
        | JournalEntry::AccountCreated { address, .. }
        | JournalEntry::CodeChange { address, .. } => (*address, None),
        JournalEntry::AccountWarmed { .. }
        | JournalEntry::AccountTouched { .. }
        | JournalEntry::StorageChanged { .. }
        | JournalEntry::StorageWarmed { .. }
        | JournalEntry::TransientStorageChange { .. } => return None,
    };
    Some(std::iter::once(one).chain(other))
}

fn differ<T: PartialEq>(before: T, after: T) -> Option<(T, T)> {
    (before != after).then_some((before, after))
}

/// Mainnet's rules, but the journal is left open at the end, to be read and discarded.
struct Uncommitted;

impl Handler for Uncommitted {
    type Evm = Evm;
    type Error = Refusal;
    type HaltReason = HaltReason;

    fn execution_result(&mut self, evm: &mut Evm, result: FrameResult, gas: ResultGas) -> Result<ExecutionResult, Refusal> {
        take_error::<Refusal, _>(evm.ctx().error())?;
        let result = post_execution::output(evm.ctx(), result, gas);
        evm.ctx().local_mut().clear();
        evm.frame_stack().clear();
        Ok(result)
    }
}
