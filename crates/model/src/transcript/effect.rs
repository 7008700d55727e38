//! What a signature or a transaction amounts to, decoded: the evidence that outranks words.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// An address with what is known about it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AddressInfo {
    /// EIP-55.
    pub address: String,
    /// The name it goes by in the registry or the world.
    pub name: Option<String>,
    /// Its role in the registry.
    pub role: Option<String>,
    /// The agent's own account or key.
    pub own: bool,
}

/// Amounts are base units as decimal text: no number type of JSON holds them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Effect {
    /// A holding of a token, of shares or of the native coin.
    Balance { holder: AddressInfo, asset: String, before: String, after: String },
    /// What somebody may take; `expires` only where the allowance itself ends (Permit2).
    Allowance {
        owner: AddressInfo,
        spender: AddressInfo,
        asset: String,
        before: String,
        after: String,
        unlimited: bool,
        expires: Option<u64>,
        via: AllowanceKind,
    },
    /// What an account has in a venue.
    Position { account: AddressInfo, venue: AddressInfo, market: String, asset: String, side: PositionSide, before: String, after: String },
    /// An account got code, or other code: a new contract, or an EIP-7702 delegation.
    Code { account: AddressInfo, delegates_to: Option<AddressInfo> },
    /// Storage of a known contract changed in a way no rule explains.
    Unexplained { contract: AddressInfo, slots: usize },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AllowanceKind {
    Erc20,
    Permit2,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PositionSide {
    Supplied,
    Borrowed,
}

/// A function, event or error with its arguments by name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DecodedItem {
    pub name: String,
    pub args: Map<String, Value>,
}

/// Something that stood in a block.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MinedTransaction {
    pub chain: u64,
    pub from: AddressInfo,
    pub to: Option<AddressInfo>,
    pub value: String,
    /// What was called; an account's `execute` is opened and what it executes stands in `inner`.
    pub call: Option<DecodedItem>,
    pub inner: Vec<InnerCall>,
    pub nonce: u64,
    pub outcome: TxOutcome,
    pub gas_used: u64,
    pub logs: Vec<DecodedLog>,
    pub effects: Vec<Effect>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InnerCall {
    pub to: AddressInfo,
    pub value: String,
    pub call: Option<DecodedItem>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum TxOutcome {
    Success,
    /// By the name of its error; raw data where nobody knows it.
    Reverted {
        error: DecodedItem,
    },
    Halted,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DecodedLog {
    pub by: AddressInfo,
    pub event: DecodedItem,
}

/// A signature that was asked for, also when nothing is ever broadcast.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum SignatureRequest {
    Transaction {
        chain: u64,
        from: AddressInfo,
        to: Option<AddressInfo>,
        value: String,
        call: Option<DecodedItem>,
        inner: Vec<InnerCall>,
    },
    /// EIP-712: permits, orders, delegations.
    Typed {
        signer: AddressInfo,
        domain: Map<String, Value>,
        primary: String,
        message: Map<String, Value>,
    },
    /// EIP-7702: the account would act with this code.
    Authorization {
        signer: AddressInfo,
        chain: u64,
        delegate: AddressInfo,
        nonce: u64,
    },
}
