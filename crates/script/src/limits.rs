//! Limits of scripts.

use serde::{Deserialize, Serialize};

/// Limits of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptLimits {
    pub time_ms: u64,
    pub memory_bytes: usize,
    pub stack_bytes: usize,
}

impl Default for ScriptLimits {
    fn default() -> Self {
        Self { time_ms: 2_000, memory_bytes: 64 << 20, stack_bytes: 512 << 10 }
    }
}
