//! The chain: a real EVM, embedded or Anvil, behind one trait. Safety is read from what happened here.

mod account_overview;
mod address_book;
mod anvil;
pub mod bindings;
pub mod contracts;
mod decode;
mod effects;
mod embedded;
pub mod encode;
pub mod genesis;
mod signer;
mod tx;

pub use account_overview::{AccountOverview, AssetHolding, SpendingStatus, TokenAllowance, VenuePosition, account_overview};
pub use address_book::{AddressBook, AddressEntry};
pub use anvil::{Anvil, AnvilConfig};
pub(crate) use decode::revert_name;
pub use effects::{decode_effects, decode_mined};
pub use embedded::{EmbeddedChain, FrozenChain};
pub use genesis::execute;
pub use signer::{Signer, TypedData, signed_authorization, signed_transaction, signed_typed};
pub use tx::{AccountChange, BlockInfo, CallOutcome, Log, Receipt, StateChanges, Tx, TxStatus};

use alloy_primitives::{Address, B256, Bytes, U256};
use async_trait::async_trait;

/// Pinned for every chain, so that gas costs the same on all of them.
pub const BASE_FEE: u64 = 1_000_000_000;
pub const BLOCK_GAS: u64 = 30_000_000;
/// What a transaction may use when nobody says otherwise.
pub const TX_GAS: u64 = 5_000_000;

/// How many hashes a process remembers: what a world asks for again and again fits several times over.
const HASH_CACHE_ENTRIES: usize = 1 << 13;

/// Bounds the hashes that alloy remembers for us to 1 MB instead of 16. For the start of a process: after the first hash it is too late, and harmless.
pub fn limit_hash_cache() {
    let _first = alloy_primitives::init_keccak_cache(HASH_CACHE_ENTRIES);
}

/// One chain of a world. Each transaction is a block of its own; time passes only when told to, and by a second per block.
#[async_trait]
pub trait ChainBackend: Send {
    fn id(&self) -> u64;

    /// Executes a transaction and keeps what it did. A revert is an outcome, not an error.
    async fn send(&mut self, tx: &Tx) -> Result<Receipt, ChainError>;

    /// Executes without keeping anything, at the time the next block would have.
    async fn call(&mut self, tx: &Tx) -> Result<CallOutcome, ChainError>;

    async fn balance(&mut self, of: Address) -> Result<U256, ChainError>;
    async fn nonce(&mut self, of: Address) -> Result<u64, ChainError>;
    async fn code(&mut self, of: Address) -> Result<Bytes, ChainError>;
    async fn storage(&mut self, of: Address, slot: U256) -> Result<B256, ChainError>;

    /// Number and time of the latest block.
    async fn latest(&mut self) -> Result<BlockInfo, ChainError>;

    /// The next block will have this time; it must lie after the latest.
    async fn set_time(&mut self, unix_s: u64) -> Result<(), ChainError>;

    /// Remembers the state; snapshots are restored at most once, later ones vanish with it.
    async fn snapshot(&mut self) -> Result<SnapshotId, ChainError>;
    async fn restore(&mut self, to: SnapshotId) -> Result<(), ChainError>;

    /// Puts a contract at an address of our choice. Only for setting a world up.
    async fn etch(&mut self, at: Address, code: Bytes) -> Result<(), ChainError>;
    async fn set_balance(&mut self, of: Address, wei: U256) -> Result<(), ChainError>;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SnapshotId(pub u64);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChainError {
    /// The transaction is not valid and never entered a block: no funds for gas, wrong nonce, too much gas.
    #[error("the transaction was refused: {0}")]
    Refused(String),
    #[error("the chain cannot do that: {0}")]
    Unsupported(String),
    /// The node is gone, silent or talks nonsense.
    #[error("the chain's node failed: {0}")]
    Node(String),
}

impl From<ChainError> for model::UserError {
    fn from(error: ChainError) -> Self {
        Self::caused_by(error)
    }
}
