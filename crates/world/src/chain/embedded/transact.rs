//! Runs one transaction on stock revm and extracts its state changes.

use super::state::OverlayDb;
use crate::chain::{AccountChange, StateChanges};
use alloy_primitives::Address;
use revm::context::result::{EVMError, ResultAndState};
use revm::context::{BlockEnv, TxEnv};
use revm::database_interface::WrapDatabaseRef;
use revm::handler::MainnetContext;
use revm::primitives::hardfork::SpecId;
use revm::state::{Account, AccountInfo, EvmState};
use revm::{Context, ExecuteEvm, MainBuilder};
use std::convert::Infallible;

/// A transaction and the block it runs in.
pub(super) struct TxRun {
    pub(super) chain: u64,
    pub(super) block: BlockEnv,
    pub(super) tx: TxEnv,
    /// Skips the checks of fees and balances, as in `eth_call`.
    pub(super) free: bool,
}

impl TxRun {
    /// Executes in a new EVM without changing the database.
    pub(super) fn transact(self, db: OverlayDb<'_>) -> Result<ResultAndState, EVMError<Infallible>> {
        let Self { chain, block, tx, free } = self;
        let mut context: MainnetContext<WrapDatabaseRef<OverlayDb<'_>>> = Context::new(WrapDatabaseRef(db), SpecId::PRAGUE);
        context.block = block;
        context.cfg.chain_id = chain;
        // Accounts with code may send transactions: those of agents do.
        context.cfg.disable_eip3607 = true;
        context.cfg.disable_base_fee = free;
        context.cfg.disable_balance_check = free;
        context.build_mainnet().transact(tx)
    }
}

/// Returns the differences between the database and the state after a transaction.
pub(super) fn changes(db: OverlayDb<'_>, state: &EvmState) -> StateChanges {
    let mut changes = StateChanges::default();
    #[expect(clippy::iter_over_hash_type, reason = "the result is sorted")]
    for (address, account) in state {
        let change = change(db, *address, account);
        if !change.is_empty() {
            changes.accounts.insert(*address, change);
        }
    }
    changes
}

fn change(db: OverlayDb<'_>, address: Address, account: &Account) -> AccountChange {
    let missing = AccountInfo::default();
    let destroyed = account.is_selfdestructed();
    let before = db.overlay.info(db.base, address).unwrap_or(&missing);
    let after = if destroyed { &missing } else { &account.info };
    let slots = account.changed_storage_slots().filter(|_| !destroyed);
    AccountChange {
        balance: differ(before.balance, after.balance),
        nonce: differ(before.nonce, after.nonce),
        code: differ(before.code_hash, after.code_hash),
        storage: slots.map(|(at, slot)| (*at, (slot.original_value(), slot.present_value()))).collect(),
    }
}

fn differ<T: PartialEq>(before: T, after: T) -> Option<(T, T)> {
    (before != after).then_some((before, after))
}
