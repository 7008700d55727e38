//! What a subject can touch: tools, peers, the clock, MCP. Knows nothing of providers, scorers or expectations.

pub mod chain;
pub mod mcp;
mod memory;
mod peers;

pub use memory::MemoryWorld;

use async_trait::async_trait;
use model::transcript::{Decision, ToolAnswer};
use serde_json::{Map, Value};

/// Everything a trial acts on. One world per trial.
#[async_trait]
pub trait World: Send {
    /// A tool is called. The answer may be the tool's own typed error; the world itself never fails.
    async fn call(&mut self, by: &str, tool: &str, args: &Value) -> ToolAnswer;

    /// An agent of this world is asked. `None` means that the subject itself plays that agent.
    async fn ask_peer(&mut self, by: &str, to: &str, params: &Map<String, Value>) -> Option<PeerAnswer>;

    /// Virtual milliseconds since the trial began.
    fn now_ms(&self) -> u64;

    /// Time passes while the subject thinks.
    fn think(&mut self);
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeerAnswer {
    pub action_id: Option<String>,
    pub decision: Decision,
    pub reason: String,
}
