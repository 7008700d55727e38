//! Time and memory limits for an MCP server.

use std::time::Duration;

/// Limits of one listing. The error names the limit that was exceeded ([`super::McpFault`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct McpLimits {
    /// Time for the whole listing, including the start of the process.
    pub timeout: Duration,
    pub tools: usize,
    pub pages: usize,
    /// Bytes of one description, and of one schema as JSON.
    pub text_bytes: usize,
    /// Bytes of one line on stdout, or of one HTTP reply.
    pub message_bytes: usize,
    /// Bytes received in total.
    pub total_bytes: usize,
    /// Lines on stdout. Needed in addition to `total`, because each message may start a task.
    pub lines: usize,
}

impl Default for McpLimits {
    fn default() -> Self {
        McpLimits {
            timeout: Duration::from_secs(30),
            tools: 2_000,
            pages: 100,
            text_bytes: 1024 * 1024,
            message_bytes: 16 * 1024 * 1024,
            total_bytes: 64 * 1024 * 1024,
            lines: 10_000,
        }
    }
}
