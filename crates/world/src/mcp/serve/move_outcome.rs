//! Outcome of a move made over MCP, as the agent reads it.

use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ContentBlock};

use crate::mcp::server::{McpReply, to_call_result};

/// Reply to a move, and the messages that have arrived since the last one.
#[derive(Debug)]
pub struct MoveOutcome {
    pub reply: McpReply,
    pub messages: Vec<String>,
}

impl MoveOutcome {
    /// Formats a message of another agent for an agent without an inbox.
    pub fn message_text(from: &str, text: &str) -> String {
        format!("A message arrived from {from}: {text}")
    }

    pub(super) fn into_call_result(self) -> CallToolResult {
        let mut done = to_call_result(self.reply);
        done.content.extend(self.messages.into_iter().map(ContentBlock::text));
        done
    }
}

pub(super) fn trial_over_error() -> ErrorData {
    ErrorData::internal_error("this trial is over", None)
}
