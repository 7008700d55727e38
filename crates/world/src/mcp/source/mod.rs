//! Sources of answers for imported tools: a live server, recordings, or stubs.

mod error;
mod passthrough;
mod reads_only;
mod recording;
mod renamed;
mod stubs;

pub use error::SourceError;
pub use passthrough::PassthroughSource;
pub use reads_only::ReadsOnlySource;
pub use recording::{RecordingSource, ReplaySource};
pub use renamed::RenamedSource;
pub use stubs::StubSource;

pub use super::tool_list::RemoteTool;

use async_trait::async_trait;
use serde_json::{Map, Value};

/// Source of answers to tool calls. Sources may have state: the same call can have different answers.
#[async_trait]
pub trait ToolSource: Send {
    async fn call(&mut self, tool: &str, args: &Map<String, Value>) -> Result<Value, SourceError>;
}

#[async_trait]
impl ToolSource for Box<dyn ToolSource> {
    async fn call(&mut self, tool: &str, args: &Map<String, Value>) -> Result<Value, SourceError> {
        self.as_mut().call(tool, args).await
    }
}
