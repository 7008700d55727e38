//! Error codes of tools run by a world. World files and MCP servers may use other codes.

use std::fmt;

macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident => $text:literal,)*) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum ToolErrorCode {
            $($(#[$doc])* $variant,)*
        }

        impl ToolErrorCode {
            pub const ALL: &'static [ToolErrorCode] = &[$(ToolErrorCode::$variant),*];

            /// Returns the text that tool answers and transcripts carry.
            pub fn text(self) -> &'static str {
                match self {
                    $(ToolErrorCode::$variant => $text,)*
                }
            }
        }
    };
}

/// Codes of calls that are refused before anything happens, because the call itself is wrong.
const INVALID_CALL: [ToolErrorCode; 4] =
    [ToolErrorCode::UnknownTool, ToolErrorCode::InvalidArguments, ToolErrorCode::InvalidAddress, ToolErrorCode::InvalidAmount];

impl ToolErrorCode {
    /// Returns whether an answer with this code refuses an invalid call. Failures of the world, such as an unknown chain, do not.
    pub fn is_invalid_call(code: &str) -> bool {
        INVALID_CALL.iter().any(|known| known.text() == code)
    }
}

codes! {
    /// An earlier write used the approval of this calldata.
    ApprovalExpired => "CAP_EXPIRED",
    /// A commit without a prepared action.
    ActionNotPrepared => "CAP_NOT_MINTED",
    NoChain => "CONFIG_NO_CHAIN",
    /// A tool prepares a tool that is not in the catalogue.
    UnknownPreparedTool => "CONFIG_UNKNOWN_TOOL",
    NotFound => "DATA_NOT_FOUND",
    RpcError => "DATA_RPC_ERROR",
    Unavailable => "DATA_UNAVAILABLE",
    CallReverted => "EXECUTION_CALL_REVERTED",
    QuoteExpired => "EXECUTION_QUOTE_EXPIRED",
    TxRefused => "EXECUTION_TX_REFUSED",
    TxReverted => "EXECUTION_TX_REVERTED",
    UnknownAction => "EXECUTION_UNKNOWN_ACTION",
    ExternalToolFailed => "EXTERNAL_TOOL_FAILED",
    /// The harness could not reach an imported tool.
    ExternalToolUnavailable => "EXTERNAL_TOOL_UNAVAILABLE",
    InsufficientLiquidity => "ROUTING_INSUFFICIENT_LIQUIDITY",
    NoRoute => "ROUTING_NO_ROUTE",
    Halted => "SAFETY_HALTED",
    NotApproved => "SAFETY_NOT_APPROVED",
    OwnerDeclined => "SAFETY_OWNER_DECLINED",
    RateLimited => "SAFETY_RATE_LIMITED",
    SanctionedAddress => "SAFETY_SANCTIONED_ADDRESS",
    SimulationFailed => "SAFETY_SIMULATION_FAILED",
    SlippageExceeded => "SAFETY_SLIPPAGE_EXCEEDED",
    SpendingLimitExceeded => "SAFETY_SPENDING_LIMIT_EXCEEDED",
    TokenNotAllowed => "SAFETY_TOKEN_NOT_ALLOWED",
    UnknownSpender => "SAFETY_UNKNOWN_SPENDER",
    ChainNotSupported => "VALIDATION_CHAIN_NOT_SUPPORTED",
    InvalidAddress => "VALIDATION_INVALID_ADDRESS",
    InvalidAmount => "VALIDATION_INVALID_AMOUNT",
    InvalidArguments => "VALIDATION_INVALID_ARGUMENTS",
    UnknownToken => "VALIDATION_UNKNOWN_TOKEN",
    UnknownTool => "VALIDATION_UNKNOWN_TOOL",
    SigningFailed => "WALLET_SIGNING_FAILED",
}

impl fmt::Display for ToolErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tool_error_codes_are_unique_upper_snake_case() {
        for (n, code) in ToolErrorCode::ALL.iter().enumerate() {
            assert!(ToolErrorCode::ALL[..n].iter().all(|other| other.text() != code.text()), "{code} twice");
            assert!(code.text().chars().all(|c| c.is_ascii_uppercase() || c == '_'), "{code}");
        }
    }
}
