//! How much of our time and memory a server may take while it lists its tools.

use std::time::Duration;

/// Bounds on one listing; each has its own [`super::Fault`], so a report says which one was met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct McpLimits {
    /// From start to the last page, start of the process included.
    pub time: Duration,
    pub tools: usize,
    pub pages: usize,
    /// Bytes of one description, and of one schema written as JSON.
    pub text: usize,
    /// Bytes of one line on stdout, or of one HTTP reply.
    pub message: usize,
    /// Bytes of everything received.
    pub total: usize,
    /// Lines on stdout. Small messages cost more memory than their bytes: each one may start a task.
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
