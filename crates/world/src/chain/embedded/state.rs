//! State of an embedded chain: a base shared by all trials of a process, and an overlay with the changes of one trial.

use crate::chain::ledger::block_hash;
use alloy_primitives::map::{AddressMap, U256Map};
use alloy_primitives::{Address, B256, U256};
use revm::DatabaseRef;
use revm::bytecode::Bytecode;
use revm::state::{Account, AccountInfo};
use std::convert::Infallible;

/// Accounts after the set-up of a world. Code is analysed once and shared by reference.
#[derive(Debug, Clone, Default)]
pub(super) struct BaseState {
    accounts: AddressMap<BaseAccount>,
}

#[derive(Debug, Clone, Default)]
struct BaseAccount {
    info: AccountInfo,
    storage: U256Map<U256>,
}

impl BaseState {
    fn info(&self, of: Address) -> Option<&AccountInfo> {
        self.accounts.get(&of).map(|account| &account.info)
    }

    fn slot(&self, of: Address, at: U256) -> U256 {
        self.accounts.get(&of).and_then(|account| account.storage.get(&at)).copied().unwrap_or_default()
    }

    /// Returns this state with an overlay merged into it.
    pub(super) fn merged_with(mut self, overlay: StateOverlay) -> Self {
        #[expect(clippy::iter_over_hash_type, reason = "accounts are merged independently")]
        for (address, OverlayAccount { info, cleared, storage }) in overlay.accounts {
            let Some(info) = info else {
                self.accounts.remove(&address);
                continue;
            };
            let account = self.accounts.entry(address).or_default();
            account.info = info;
            if cleared {
                account.storage.clear();
            }
            account.storage.extend(storage);
        }
        self
    }
}

/// Accounts that differ from the base state.
#[derive(Debug, Clone, Default)]
pub(super) struct StateOverlay {
    accounts: AddressMap<OverlayAccount>,
}

#[derive(Debug, Clone, Default)]
struct OverlayAccount {
    /// `None` if the account does not exist.
    info: Option<AccountInfo>,
    /// The storage of the base is ignored.
    cleared: bool,
    storage: U256Map<U256>,
}

impl StateOverlay {
    pub(super) fn info<'s>(&'s self, base: &'s BaseState, of: Address) -> Option<&'s AccountInfo> {
        match self.accounts.get(&of) {
            Some(account) => account.info.as_ref(),
            None => base.info(of),
        }
    }

    pub(super) fn slot(&self, base: &BaseState, of: Address, at: U256) -> U256 {
        let Some(account) = self.accounts.get(&of) else { return base.slot(of, at) };
        match account.storage.get(&at) {
            Some(value) => *value,
            None if account.cleared => U256::ZERO,
            None => base.slot(of, at),
        }
    }

    /// Replaces balance, nonce and code of an account and keeps its storage.
    pub(super) fn set(&mut self, at: Address, info: AccountInfo) {
        self.accounts.entry(at).or_default().info = Some(info);
    }

    /// Applies the state of an account after a transaction.
    pub(super) fn commit(&mut self, address: Address, account: &Account) {
        let kept = self.accounts.entry(address).or_default();
        let destroyed = account.is_selfdestructed();
        if destroyed || account.is_created() {
            kept.cleared = true;
            kept.storage.clear();
        }
        kept.info = (!destroyed).then(|| account.info.clone());
        if !destroyed {
            kept.storage.extend(account.changed_storage_slots().map(|(at, slot)| (*at, slot.present_value())));
        }
    }
}

/// revm database over base and overlay.
#[derive(Debug, Clone, Copy)]
pub(super) struct OverlayDb<'s> {
    pub(super) chain: u64,
    pub(super) base: &'s BaseState,
    pub(super) overlay: &'s StateOverlay,
}

impl DatabaseRef for OverlayDb<'_> {
    type Error = Infallible;

    fn basic_ref(&self, address: Address) -> Result<Option<AccountInfo>, Infallible> {
        Ok(self.overlay.info(self.base, address).cloned())
    }

    // Never called: accounts carry their code.
    fn code_by_hash_ref(&self, _: B256) -> Result<Bytecode, Infallible> {
        Ok(Bytecode::default())
    }

    fn storage_ref(&self, address: Address, at: U256) -> Result<U256, Infallible> {
        Ok(self.overlay.slot(self.base, address, at))
    }

    // The same hash as over RPC.
    fn block_hash_ref(&self, number: u64) -> Result<B256, Infallible> {
        Ok(block_hash(self.chain, number))
    }
}
