//! Actions have identity: what was quoted, simulated, approved and sent can be told apart by the hash of its calldata.

use super::effect::AddressInfo;
use serde::{Deserialize, Serialize};

/// An action frozen under an id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PreparedAction {
    pub action_id: String,
    /// The write tool that would carry it out.
    pub tool: String,
    pub chain: u64,
    /// The latest block when it was frozen.
    pub block: u64,
    /// Keccak-256 of everything that would be signed. Stored as `calldata`.
    #[serde(rename = "calldata")]
    pub calldata_hash: String,
    /// Virtual time after which its price is stale.
    pub expires_at_ms: u64,
    pub trade: Option<TradeTerms>,
}

/// One asset for another. Amounts are base units as decimal text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TradeTerms {
    pub chain: u64,
    pub sell: String,
    pub amount: String,
    pub buy: String,
    /// What the pools would have paid when the calldata was built.
    pub expected: String,
    /// What the calldata insists on.
    pub least: String,
    pub to: AddressInfo,
    /// Unix seconds after which it must fail.
    pub deadline: u64,
}

/// Which call and which action a signature or a transaction belongs to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ActionOrigin {
    /// Absent where no tool was called: an agent that signs through the RPC, or the world itself.
    pub call: Option<u32>,
    pub action_id: Option<String>,
    /// Stored as `calldata`.
    #[serde(rename = "calldata")]
    pub calldata_hash: Option<String>,
    pub trade: Option<TradeTerms>,
}

/// An address as an argument, with what the world knows about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResolvedAddress {
    pub param: String,
    /// As the caller wrote it.
    pub text: String,
    pub chain: u64,
    pub party: AddressInfo,
    pub has_code: bool,
}

/// Where something remembered came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryProvenance {
    /// The agent, tool or person it came from.
    pub source: String,
    pub trusted: bool,
}
