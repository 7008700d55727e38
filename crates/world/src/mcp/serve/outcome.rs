//! The outcome of a move made over MCP, as the agent reads it.

use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ContentBlock};

use crate::mcp::server::{Reply, result};

/// The reply to a move, and the messages that arrived meanwhile.
#[derive(Debug)]
pub struct MoveOutcome {
    pub reply: Reply,
    pub messages: Vec<String>,
}

impl MoveOutcome {
    /// Returns a message as it is shown to an agent without an inbox.
    pub fn message(from: &str, text: &str) -> String {
        format!("A message arrived from {from}: {text}")
    }

    pub(super) fn result(self) -> CallToolResult {
        let mut done = result(self.reply);
        done.content.extend(self.messages.into_iter().map(ContentBlock::text));
        done
    }
}

pub(super) fn trial_over() -> ErrorData {
    ErrorData::internal_error("this trial is over", None)
}
