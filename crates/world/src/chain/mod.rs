//! Chains of a world: a real EVM, embedded or Anvil, behind one trait. Safety is scored from the state changes on them.

mod account_overview;
mod address_book;
mod anvil;
pub use ::bindings;
pub mod contracts;
mod decode;
mod effects;
mod embedded;
pub mod encode;
pub mod genesis;
mod genesis_step;
mod ledger;
mod observed;
pub mod policy_contract;
mod signer;
mod tx;

pub use account_overview::{AccountOverview, AssetHolding, SpendingStatus, TokenAllowance, VenuePosition, account_overview};
pub use address_book::{AddressBook, AddressEntry};
pub use anvil::{Anvil, AnvilConfig};
pub(crate) use decode::revert_name;
pub use effects::{decode_effects, decode_mined};
pub use embedded::{EmbeddedChain, FrozenChain};
pub use genesis::execute;
pub use ledger::{CONFIRMATION_BLOCKS, ChainLedger, LedgerTx, SignedForm, TxSubmission};
pub use observed::{ChainReader, ObservedTransaction, ReadFailure, calldata_hash, registry_book};
pub use signer::{Signer, TypedData, signed_authorization, signed_transaction, signed_typed};
pub use tx::{AccountChange, BlockInfo, CallOutcome, Log, Receipt, StateChanges, Tx, TxStatus};

use alloy_primitives::{Address, B256, Bytes, U256};
use async_trait::async_trait;
use std::collections::{BTreeMap, BTreeSet};

/// Base fee in wei. Pinned, so that gas costs the same on every chain.
pub const BASE_FEE: u64 = 1_000_000_000;
pub const BLOCK_GAS: u64 = 30_000_000;
/// Default gas limit of a transaction.
pub const TX_GAS: u64 = 5_000_000;

/// Entries of alloy's hash cache. Several times the number of hashes that a world repeats.
const HASH_CACHE_ENTRIES: usize = 1 << 13;

/// Limits alloy's hash cache to 1 MB instead of 16. Call it when the process starts; after the first hash it has no effect.
pub fn limit_hash_cache() {
    let _first = alloy_primitives::init_keccak_cache(HASH_CACHE_ENTRIES);
}

/// One chain of a world. Each transaction is mined in its own block. Time advances by one second per block, or by [`Self::set_time`].
#[async_trait]
pub trait ChainBackend: Send {
    fn id(&self) -> u64;

    /// Executes a transaction and commits its changes. A revert is an outcome, not an error.
    async fn send(&mut self, tx: &Tx) -> Result<Receipt, ChainError>;

    /// Executes without committing, at the time of the next block.
    async fn call(&mut self, tx: &Tx) -> Result<CallOutcome, ChainError>;

    /// Executes without committing and returns the accounts and storage slots that were accessed.
    async fn accessed(&mut self, tx: &Tx) -> Result<AccessedState, ChainError>;

    /// Mines empty blocks with the time of the latest one. The time set for the next block is kept.
    async fn mine_empty(&mut self, blocks: u64) -> Result<(), ChainError>;

    async fn balance(&mut self, of: Address) -> Result<U256, ChainError>;
    async fn nonce(&mut self, of: Address) -> Result<u64, ChainError>;
    async fn code(&mut self, of: Address) -> Result<Bytes, ChainError>;
    async fn storage(&mut self, of: Address, slot: U256) -> Result<B256, ChainError>;

    /// Returns number and time of the latest block.
    async fn latest(&mut self) -> Result<BlockInfo, ChainError>;

    /// Sets the time of the next block. Fails if it is not after the latest block.
    async fn set_time(&mut self, unix_s: u64) -> Result<(), ChainError>;

    /// Saves the state. Restoring a snapshot removes it and all later ones.
    async fn snapshot(&mut self) -> Result<SnapshotId, ChainError>;
    async fn restore(&mut self, to: SnapshotId) -> Result<(), ChainError>;

    /// Sets the code at an address. Only for the set-up of a world.
    async fn etch(&mut self, at: Address, code: Bytes) -> Result<(), ChainError>;
    async fn set_balance(&mut self, of: Address, wei: U256) -> Result<(), ChainError>;
}

/// Accessed storage slots by account.
pub type AccessedState = BTreeMap<Address, BTreeSet<B256>>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SnapshotId(pub u64);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChainError {
    /// The transaction is invalid and was not mined: no funds for gas, wrong nonce, gas limit too high.
    #[error("the transaction was refused: {0}")]
    Refused(String),
    #[error("not supported: {0}")]
    Unsupported(String),
    /// The node cannot be reached, does not answer or sends an invalid reply.
    #[error("the chain's node failed: {0}")]
    Node(String),
}

impl From<ChainError> for model::UserError {
    fn from(error: ChainError) -> Self {
        Self::caused_by(error)
    }
}
