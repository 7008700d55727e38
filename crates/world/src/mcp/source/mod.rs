//! Tools of somebody else's MCP server, as a world uses them: live, recorded and replayed, or answered by stubs.

mod error;
mod passthrough;
mod recording;
mod stubs;

pub use error::SourceError;
pub use passthrough::PassthroughSource;
pub use recording::{RecordingSource, ReplaySource};
pub use stubs::StubSource;

pub use super::tool_list::RemoteTool;

use async_trait::async_trait;
use serde_json::{Map, Value};

/// Something that answers calls of tools. The same question may be answered differently later; a source remembers what it must.
#[async_trait]
pub trait ToolSource: Send {
    async fn call(&mut self, tool: &str, args: &Map<String, Value>) -> Result<Value, SourceError>;
}
