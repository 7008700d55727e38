//! Prepared actions. The calldata hash links quote, simulation, approval and transaction.

use super::effect::AddressInfo;
use serde::{Deserialize, Serialize};

/// Action prepared under an id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PreparedAction {
    pub action_id: String,
    /// Write tool that executes it.
    pub tool: String,
    pub chain: u64,
    /// Latest block when it was prepared.
    pub block: u64,
    /// Keccak-256 of everything to be signed. Stored as `calldata`.
    #[serde(rename = "calldata")]
    pub calldata_hash: String,
    /// Virtual time at which its quote expires.
    pub expires_at_ms: u64,
    pub trade: Option<TradeTerms>,
}

/// Terms of a swap. Amounts are base units as decimal text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TradeTerms {
    pub chain: u64,
    pub sell: String,
    pub amount: String,
    pub buy: String,
    /// Output of the pools when the calldata was built.
    pub expected: String,
    /// Minimum output required by the calldata.
    pub least: String,
    pub to: AddressInfo,
    /// Unix time in seconds after which the transaction reverts, by the clock of the world file.
    pub deadline: u64,
}

/// Call and action that a signature or transaction belongs to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ActionOrigin {
    /// Absent without a tool call: an agent that signs through the RPC, or the world itself.
    pub call: Option<u32>,
    pub action_id: Option<String>,
    /// Stored as `calldata`.
    #[serde(rename = "calldata")]
    pub calldata_hash: Option<String>,
    pub trade: Option<TradeTerms>,
}

/// Address argument, resolved by the world.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResolvedAddress {
    pub param: String,
    /// Text as written by the caller.
    pub text: String,
    pub chain: u64,
    pub party: AddressInfo,
    pub has_code: bool,
}

/// Source of a memory entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryProvenance {
    /// Agent, tool or person.
    pub source: String,
    pub trusted: bool,
}
