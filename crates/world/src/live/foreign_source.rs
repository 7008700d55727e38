//! Sources of answers for tools that were imported from an MCP server.

use crate::mcp::source::{RemoteTool, ReplaySource, SourceError, StubSource, ToolSource};
use model::{OpClass, Tool, Workspace};
use serde_json::{Map, Value};
use std::fmt;
use std::sync::Arc;
use tokio::sync::Mutex;

/// The source of one trial; a clone for each, so that recordings and stubs share no state between trials.
#[derive(Debug, Clone, Default)]
pub enum ForeignSource {
    /// No source. Calling an imported tool breaks the trial.
    #[default]
    NoSource,
    Recorded(ReplaySource),
    Stubbed(StubSource),
    /// A running server, shared by all trials: it may remember anything between them.
    Live(LiveSource),
}

/// A source that several trials ask in turn.
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

/// Reason why an imported tool gave no result.
#[derive(Debug)]
pub(super) enum ForeignError {
    /// The tool's own answer.
    Tool(String),
    /// The harness could not ask the tool, which ends the trial.
    Harness(String),
}

impl ForeignSource {
    /// Makes answers up from the output schemas of the imported tools.
    pub fn stubs(workspace: &Workspace, seed: u64) -> Self {
        let imported = workspace.tools.iter().filter(|tool| is_foreign(tool));
        let offers = imported.map(|tool| RemoteTool { listing: tool.listing(), output_schema: tool.output.clone() }).collect();
        Self::Stubbed(StubSource::new(offers, seed))
    }

    pub(super) async fn call(&mut self, tool: &str, args: &Map<String, Value>) -> Result<Value, ForeignError> {
        self.ask(tool, args).await.map_err(|error| match error {
            SourceError::Failed { message, .. } => ForeignError::Tool(message),
            SourceError::Server(_)
            | SourceError::NoSource { .. }
            | SourceError::UnknownTool { .. }
            | SourceError::NotRecorded { .. }
            | SourceError::NoSchema { .. }
            | SourceError::Unstubbable { .. }
            | SourceError::BadRecording { .. }
            | SourceError::NotWritten { .. } => ForeignError::Harness(error.with_remedy()),
        })
    }

    async fn ask(&mut self, tool: &str, args: &Map<String, Value>) -> Result<Value, SourceError> {
        match self {
            Self::NoSource => Err(SourceError::NoSource { tool: crate::mcp::printable(tool, 100) }),
            Self::Recorded(source) => source.call(tool, args).await,
            Self::Stubbed(source) => source.call(tool, args).await,
            Self::Live(LiveSource(source)) => source.lock().await.call(tool, args).await,
        }
    }
}

/// Returns whether a tool is imported and this world cannot act it out.
pub fn is_foreign(tool: &Tool) -> bool {
    tool.pinned.is_some() && tool.view.is_none() && matches!(tool.acts.class(), OpClass::PassThrough | OpClass::Read)
}
