//! What lies on an embedded chain: a base that all trials of a process share, and a thin layer of what one of them changed.

use crate::chain::{AccountChange, Changes};
use alloy_primitives::map::{AddressMap, U256Map};
use alloy_primitives::{Address, B256, U256};
use revm::Database;
use revm::bytecode::Bytecode;
use revm::state::AccountInfo;
use std::convert::Infallible;
use std::sync::Arc;

/// Accounts as the set-up left them.
#[derive(Debug, Clone, Default)]
pub(super) struct Base {
    accounts: AddressMap<Standing>,
}

#[derive(Debug, Clone, Default)]
struct Standing {
    info: AccountInfo,
    storage: U256Map<U256>,
}

impl Base {
    pub(super) fn info(&self, of: Address) -> Option<&AccountInfo> {
        self.accounts.get(&of).map(|standing| &standing.info)
    }

    fn slot(&self, of: Address, at: U256) -> U256 {
        self.accounts.get(&of).and_then(|standing| standing.storage.get(&at)).copied().unwrap_or_default()
    }

    /// The base with a layer worked in.
    pub(super) fn with(mut self, layer: Layer) -> Self {
        #[expect(clippy::iter_over_hash_type, reason = "each account goes to its own place")]
        for (address, Altered { info, cleared, storage }) in layer.accounts {
            let Some(info) = info else {
                self.accounts.remove(&address);
                continue;
            };
            let standing = self.accounts.entry(address).or_default();
            standing.info = info;
            if cleared {
                standing.storage.clear();
            }
            standing.storage.extend(storage);
        }
        self
    }
}

/// What differs from the base.
#[derive(Debug, Clone, Default)]
pub(super) struct Layer {
    pub(super) accounts: AddressMap<Altered>,
    /// How much there is of it, in slots and accounts.
    pub(super) weight: usize,
}

/// An account that is not, or no longer wholly, what it is in the base.
#[derive(Debug, Clone, Default)]
pub(super) struct Altered {
    /// `None`: there is no such account.
    pub(super) info: Option<AccountInfo>,
    /// Nothing of the base's storage counts.
    pub(super) cleared: bool,
    pub(super) storage: U256Map<U256>,
}

impl Layer {
    pub(super) fn info<'l>(&'l self, base: &'l Base, of: Address) -> Option<&'l AccountInfo> {
        match self.accounts.get(&of) {
            Some(altered) => altered.info.as_ref(),
            None => base.info(of),
        }
    }

    pub(super) fn slot(&self, base: &Base, of: Address, at: U256) -> U256 {
        match self.accounts.get(&of) {
            Some(altered) => match altered.storage.get(&at) {
                Some(value) => *value,
                None if altered.cleared || altered.info.is_none() => U256::ZERO,
                None => base.slot(of, at),
            },
            None => base.slot(of, at),
        }
    }

    /// Says outright what an account is; its storage stays.
    pub(super) fn set(&mut self, at: Address, info: AccountInfo) {
        self.weight += 1;
        self.accounts.entry(at).or_default().info = Some(info);
    }

    /// Takes over what a transaction did. `anew` are the accounts it changed otherwise than by their numbers: created, given code, or gone.
    pub(super) fn take(&mut self, base: &Base, changes: &Changes, anew: AddressMap<Option<AccountInfo>>) {
        for (address, change) in &changes.accounts {
            let AccountChange { balance, nonce, storage, .. } = change;
            self.weight += 1 + storage.len();
            let altered =
                self.accounts.entry(*address).or_insert_with(|| Altered { info: base.info(*address).cloned(), ..Altered::default() });
            if balance.is_some() || nonce.is_some() {
                let info = altered.info.get_or_insert_default();
                info.balance = balance.map_or(info.balance, |(_, after)| after);
                info.nonce = nonce.map_or(info.nonce, |(_, after)| after);
            }
            altered.storage.extend(storage.iter().map(|(slot, (_, after))| (*slot, *after)));
        }
        #[expect(clippy::iter_over_hash_type, reason = "each account goes to its own place")]
        for (address, info) in anew {
            let altered = self.accounts.entry(address).or_default();
            altered.cleared |= info.is_none() || base.info(address).is_none();
            if info.is_none() {
                altered.storage.clear();
            }
            altered.info = info;
        }
    }
}

/// Base and layer as revm asks for them.
#[derive(Debug, Default)]
pub(super) struct Sight {
    pub(super) base: Arc<Base>,
    pub(super) layer: Layer,
}

impl Database for Sight {
    type Error = Infallible;

    fn basic(&mut self, address: Address) -> Result<Option<AccountInfo>, Infallible> {
        Ok(self.layer.info(&self.base, address).cloned())
    }

    // Accounts are kept together with their code, so nobody asks for it by hash.
    fn code_by_hash(&mut self, _: B256) -> Result<Bytecode, Infallible> {
        Ok(Bytecode::default())
    }

    fn storage(&mut self, address: Address, at: U256) -> Result<U256, Infallible> {
        Ok(self.layer.slot(&self.base, address, at))
    }

    // Blocks have no hashes here; the same word as on every run.
    fn block_hash(&mut self, number: u64) -> Result<B256, Infallible> {
        Ok(alloy_primitives::keccak256(number.to_string()))
    }
}
