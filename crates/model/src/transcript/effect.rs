//! Decoded signatures, transactions and their effects on state.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Address with its known name and role.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AddressInfo {
    /// With EIP-55 checksum.
    pub address: String,
    /// Name in the registry or the world.
    pub name: Option<String>,
    /// Role in the registry.
    pub role: Option<String>,
    /// Belongs to the agent: its account or key.
    pub own: bool,
}

/// Change of state. Amounts are base units as decimal text, because JSON numbers would lose digits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Effect {
    /// Balance of a token, of vault shares or of the native coin.
    Balance { holder: AddressInfo, asset: String, before: String, after: String },
    /// Allowance of a spender. `expires` is set for Permit2 only.
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
    /// Position or debt of an account in a venue.
    Position { account: AddressInfo, venue: AddressInfo, market: String, asset: String, side: PositionSide, before: String, after: String },
    /// Changed code of an account: a new contract or an EIP-7702 delegation.
    Code { account: AddressInfo, delegates_to: Option<AddressInfo> },
    /// Changed storage of a known contract that no decoder explains.
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

/// Decoded function, event or error with its arguments by name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DecodedItem {
    pub name: String,
    pub args: Map<String, Value>,
}

/// Transaction included in a block.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MinedTransaction {
    pub chain: u64,
    pub from: AddressInfo,
    pub to: Option<AddressInfo>,
    pub value: String,
    /// Decoded calldata. The calls inside an account's `execute` are in `inner`.
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
    /// Error by name, or as raw data if it is unknown.
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

/// Requested signature, whether or not it is ever broadcast.
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
    /// EIP-712 message such as a permit, order or delegation.
    Typed {
        signer: AddressInfo,
        domain: Map<String, Value>,
        primary: String,
        message: Map<String, Value>,
    },
    /// EIP-7702 authorization to run this code in the account.
    Authorization {
        signer: AddressInfo,
        chain: u64,
        delegate: AddressInfo,
        nonce: u64,
    },
}

impl SignatureRequest {
    pub fn signer(&self) -> &AddressInfo {
        match self {
            SignatureRequest::Transaction { from, .. } => from,
            SignatureRequest::Typed { signer, .. } | SignatureRequest::Authorization { signer, .. } => signer,
        }
    }
}
