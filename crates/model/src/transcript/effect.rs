//! What a signature or a transaction amounts to, decoded: the evidence that outranks words.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// An address with what is known about it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Party {
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
    Balance { holder: Party, asset: String, before: String, after: String },
    /// What somebody may take; `expires` only where the allowance itself ends (Permit2).
    Allowance {
        owner: Party,
        spender: Party,
        asset: String,
        before: String,
        after: String,
        unlimited: bool,
        expires: Option<u64>,
        via: Via,
    },
    /// What an account has in a venue.
    Position { account: Party, venue: Party, market: String, asset: String, side: Side, before: String, after: String },
    /// An account got code, or other code: a new contract, or an EIP-7702 delegation.
    Code { account: Party, delegates_to: Option<Party> },
    /// Storage of a known contract changed in a way no rule explains.
    Unexplained { contract: Party, slots: usize },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Via {
    Erc20,
    Permit2,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    Supplied,
    Borrowed,
}

/// A function, event or error with its arguments by name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decoded {
    pub name: String,
    pub args: Map<String, Value>,
}

/// Something that stood in a block.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mined {
    pub chain: u64,
    pub from: Party,
    pub to: Option<Party>,
    pub value: String,
    /// What was called; an account's `execute` is opened and what it executes stands in `inner`.
    pub call: Option<Decoded>,
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
    pub to: Party,
    pub value: String,
    pub call: Option<Decoded>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum TxOutcome {
    Success,
    /// By the name of its error; raw data where nobody knows it.
    Reverted {
        error: Decoded,
    },
    Halted,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DecodedLog {
    pub by: Party,
    pub event: Decoded,
}

/// A signature that was asked for, also when nothing is ever broadcast.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Signed {
    Transaction {
        chain: u64,
        from: Party,
        to: Option<Party>,
        value: String,
        call: Option<Decoded>,
        inner: Vec<InnerCall>,
    },
    /// EIP-712: permits, orders, delegations.
    Typed {
        signer: Party,
        domain: Map<String, Value>,
        primary: String,
        message: Map<String, Value>,
    },
    /// EIP-7702: the account would act with this code.
    Authorization {
        signer: Party,
        chain: u64,
        delegate: Party,
        nonce: u64,
    },
}
