//! Transactions, receipts and state changes before decoding.

use alloy_eip7702::SignedAuthorization;
use alloy_primitives::{Address, B256, Bytes, U256};
use std::collections::BTreeMap;

/// Unsigned transaction. Its gas price is always the pinned base fee.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tx {
    pub from: Address,
    /// `None` creates a contract.
    pub to: Option<Address>,
    pub value: U256,
    pub data: Bytes,
    /// 0 means the default limit.
    pub gas: u64,
    /// Defaults to the next nonce of the account.
    pub nonce: Option<u64>,
    /// Authorizations of EIP-7702, which delegate an account to code.
    pub authorizations: Vec<SignedAuthorization>,
}

impl Tx {
    pub fn call(from: Address, to: Address, data: impl Into<Bytes>) -> Self {
        Self { from, to: Some(to), data: data.into(), ..Self::default() }
    }

    pub fn gas_limit(&self) -> u64 {
        if self.gas == 0 { super::TX_GAS } else { self.gas }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TxStatus {
    Success,
    Reverted,
    /// Out of gas, invalid opcode or another exceptional halt.
    Halted,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Log {
    pub address: Address,
    pub topics: Vec<B256>,
    pub data: Bytes,
}

/// Result of a call or transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallOutcome {
    pub status: TxStatus,
    pub gas_used: u64,
    pub output: Bytes,
}

/// Mined transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    pub status: TxStatus,
    pub gas_used: u64,
    /// Return data, or revert data.
    pub output: Bytes,
    pub logs: Vec<Log>,
    pub block: BlockInfo,
    pub changes: StateChanges,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockInfo {
    pub number: u64,
    pub unix_s: u64,
}

/// Changes of a transaction by account.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StateChanges {
    pub accounts: BTreeMap<Address, AccountChange>,
}

/// Values before and after; absent if unchanged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AccountChange {
    pub balance: Option<(U256, U256)>,
    pub nonce: Option<(u64, u64)>,
    /// Code hash.
    pub code: Option<(B256, B256)>,
    pub storage: BTreeMap<U256, (U256, U256)>,
}

impl AccountChange {
    pub fn is_empty(&self) -> bool {
        self.balance.is_none() && self.nonce.is_none() && self.code.is_none() && self.storage.is_empty()
    }
}
