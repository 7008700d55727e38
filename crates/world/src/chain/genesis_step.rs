//! Steps of a chain's set-up, and the accounts that take part in it.

use alloy_primitives::{Address, Bytes, U256, address};

/// Account that sets worlds up and owns their contracts. Never the agent.
pub const KEEPER: Address = address!("C0FFEE000000000000000000000000000000C0FF");
/// Agent's account: the cage that holds its funds.
pub const ACCOUNT: Address = address!("CA9E00000000000000000000000000000000CA9E");

#[derive(Debug, Clone)]
pub enum GenesisStep {
    Etch {
        at: Address,
        contract: &'static str,
    },
    /// Code of an own policy contract.
    EtchCode {
        at: Address,
        code: Bytes,
    },
    /// Runs creation code at an address, as if the contract had been created there.
    Construct {
        at: Address,
        code: Bytes,
        what: String,
    },
    Fund {
        who: Address,
        wei: U256,
    },
    /// Sets the time of the next block.
    At {
        unix_s: u64,
    },
    Send {
        from: Address,
        to: Address,
        data: Bytes,
        value: U256,
        what: String,
    },
}
