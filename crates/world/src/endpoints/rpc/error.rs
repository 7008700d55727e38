//! RPC errors as Ethereum clients expect them: JSON-RPC codes, -32000 for rejections, 3 for reverts.

use alloy_primitives::{Bytes, hex};
use alloy_sol_types::{Revert, SolError};
use serde::Serialize;

use crate::chain::ChainError;
use crate::mcp::printable;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct RpcError {
    pub(super) code: i64,
    pub(super) message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) data: Option<String>,
}

impl RpcError {
    fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    pub(super) fn parse(error: &serde_json::Error) -> Self {
        Self::new(-32700, format!("invalid JSON: {error}"))
    }

    pub(super) fn request(why: impl Into<String>) -> Self {
        Self::new(-32600, why)
    }

    pub(super) fn method(name: &str) -> Self {
        Self::new(-32601, format!("the method {} does not exist", printable(name, 100)))
    }

    pub(super) fn params(why: impl Into<String>) -> Self {
        Self::new(-32602, why)
    }

    pub(super) fn internal(why: impl Into<String>) -> Self {
        Self::new(-32603, why)
    }

    /// Rejected by the chain or by the signer.
    pub(super) fn refused(why: impl Into<String>) -> Self {
        Self::new(-32000, why)
    }

    pub(super) fn reverted(output: &Bytes) -> Self {
        let reason = Revert::abi_decode(output).ok().map(|revert| format!(": {}", printable(&revert.reason, 300)));
        Self { code: 3, message: format!("execution reverted{}", reason.unwrap_or_default()), data: Some(hex::encode_prefixed(output)) }
    }
}

impl From<ChainError> for RpcError {
    fn from(error: ChainError) -> Self {
        match error {
            ChainError::Refused(why) => Self::refused(why),
            ChainError::Unsupported(_) => Self::refused(error.to_string()),
            ChainError::Node(_) => Self::internal(error.to_string()),
        }
    }
}
