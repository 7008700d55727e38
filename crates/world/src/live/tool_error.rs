//! Tool errors: a code and a message.

use crate::chain::ChainError;
use model::transcript::{ToolAnswer, ToolErrorCode};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ToolError {
    pub code: ToolErrorCode,
    pub message: String,
    /// The chain's node failed, which is no fault of the caller.
    pub node_failed: bool,
}

impl ToolError {
    pub(crate) fn new(code: ToolErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: truncated(message.into()), node_failed: false }
    }

    pub(crate) fn answer(self) -> ToolAnswer {
        ToolAnswer::error(self.code, self.message)
    }
}

impl From<ChainError> for ToolError {
    fn from(error: ChainError) -> Self {
        match error {
            ChainError::Refused(why) => ToolError::new(ToolErrorCode::TxRefused, why),
            ChainError::Unsupported(why) => ToolError::new(ToolErrorCode::ChainNotSupported, why),
            ChainError::Node(why) => ToolError { node_failed: true, ..ToolError::new(ToolErrorCode::RpcError, why) },
        }
    }
}

/// Maximum characters of a message, since messages quote arguments of any length.
const LONGEST: usize = 400;

fn truncated(text: String) -> String {
    if text.chars().count() <= LONGEST { text } else { text.chars().take(LONGEST).chain(['…']).collect() }
}

/// Quotes a value for a message, without control characters and with at most 60 characters.
pub(crate) fn quote_value(text: &str) -> String {
    let short: String = text.chars().filter(|c| !c.is_control()).take(60).collect();
    if short.chars().count() < text.chars().count() { format!("\"{short}…\"") } else { format!("\"{short}\"") }
}
