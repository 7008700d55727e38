//! Time and memory limits for an MCP server.

use std::time::Duration;

/// Limits of one listing. The error names the limit that was exceeded ([`super::McpFault`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct McpLimits {
    /// Time for the whole listing, including the start of the process.
    pub time: Duration,
    pub tools: usize,
    pub pages: usize,
    /// Bytes of one description, and of one schema as JSON.
    pub text: usize,
    /// Bytes of one line on stdout, or of one HTTP reply.
    pub message: usize,
    /// Bytes received in total.
    pub total: usize,
    /// Lines on stdout. Needed in addition to `total`, because each message may start a task.
    pub lines: usize,
}

impl Default for McpLimits {
    fn default() -> Self {
        McpLimits {
            time: Duration::from_secs(30),
            tools: 2_000,
            pages: 100,
            text: 1024 * 1024,
            message: 16 * 1024 * 1024,
            total: 64 * 1024 * 1024,
            lines: 10_000,
        }
    }
}
