//! Response sources for tools imported from an MCP server.

use crate::mcp::source::{RemoteTool, ReplaySource, SourceError, StubSource, ToolSource};
use model::{OpClass, Tool, Workspace};
use serde_json::{Map, Value};
use std::fmt;
use std::sync::Arc;
use tokio::sync::Mutex;

/// Response source of one trial. Each trial gets a clone, so recordings and stubs share no state.
#[derive(Debug, Clone, Default)]
pub enum ForeignSource {
    /// No source: calling an imported tool aborts the trial.
    #[default]
    NoSource,
    Recorded(ReplaySource),
    Stubbed(StubSource),
    /// Running server shared by all trials; it may keep state between them.
    Live(LiveSource),
}

/// Source shared by trials behind a mutex.
#[derive(Clone)]
pub struct LiveSource(Arc<Mutex<Box<dyn ToolSource>>>);

impl LiveSource {
    pub fn new(source: impl ToolSource + 'static) -> Self {
        Self(Arc::new(Mutex::new(Box::new(source))))
    }
}

impl fmt::Debug for LiveSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LiveSource").finish_non_exhaustive()
    }
}

/// Failure of an imported tool.
#[derive(Debug)]
pub(super) enum ForeignError {
    /// Error returned by the tool.
    Tool(String),
    /// No answer to this call was recorded.
    NotRecorded(String),
    /// The call was not made, and no answer can be made up for it.
    NotAnswered(String),
    /// The harness could not call the tool; the trial ends.
    Harness(String),
}

impl ForeignSource {
    /// Creates stubs that generate answers from the output schemas of imported tools.
    pub fn stubs(workspace: &Workspace, seed: u64) -> Self {
        let imported = workspace.tools.iter().filter(|tool| is_foreign(tool));
        let tools = imported
            .map(|tool| RemoteTool { listing: tool.listing(), output_schema: tool.output.clone(), declared_effect: None })
            .collect();
        Self::Stubbed(StubSource::new(tools, seed))
    }

    pub(super) async fn call(&mut self, tool: &str, args: &Map<String, Value>) -> Result<Value, ForeignError> {
        self.call_source(tool, args).await.map_err(|error| match error {
            SourceError::Failed { message, .. } => ForeignError::Tool(message),
            SourceError::NotRecorded { .. } => ForeignError::NotRecorded(error.with_remedy()),
            SourceError::NoSchema { .. } | SourceError::Unstubbable { .. } | SourceError::WriteNotAllowed { .. } => {
                ForeignError::NotAnswered(error.with_remedy())
            }
            SourceError::Server(_)
            | SourceError::NoSource { .. }
            | SourceError::UnknownTool { .. }
            | SourceError::BadRecording { .. }
            | SourceError::NotWritten { .. } => ForeignError::Harness(error.with_remedy()),
        })
    }

    async fn call_source(&mut self, tool: &str, args: &Map<String, Value>) -> Result<Value, SourceError> {
        match self {
            Self::NoSource => Err(SourceError::NoSource { tool: crate::mcp::printable(tool, 100) }),
            Self::Recorded(source) => source.call(tool, args).await,
            Self::Stubbed(source) => source.call(tool, args).await,
            Self::Live(LiveSource(source)) => source.lock().await.call(tool, args).await,
        }
    }
}

/// Returns whether a tool is imported and has no live implementation in this world.
pub fn is_foreign(tool: &Tool) -> bool {
    tool.pinned.is_some() && tool.view.is_none() && matches!(tool.acts.class(), OpClass::PassThrough | OpClass::Read)
}
