//! Response sources for tools imported from an MCP server.

use crate::mcp::source::{RemoteTool, ReplaySource, SourceError, StubSource, ToolSource};
use model::{Tool, Workspace};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
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
    /// Running servers shared by all trials; they may keep state between them.
    Live(LiveServers),
}

/// Running servers, each with the tools that were imported from it. No other tool is called there.
#[derive(Debug, Clone)]
pub struct LiveServers {
    servers: Vec<LiveServer>,
    /// Source of the tools of other servers.
    others: Box<ForeignSource>,
    /// Server of each imported tool, for messages.
    origins: BTreeMap<String, String>,
}

/// Running server and the names, in the workspace, of its tools.
#[derive(Debug, Clone)]
pub struct LiveServer {
    pub tools: BTreeSet<String>,
    pub source: LiveSource,
}

impl LiveServers {
    /// `others` answers the tools that were imported from none of the servers.
    pub fn new(servers: Vec<LiveServer>, others: ForeignSource, workspace: &Workspace) -> Self {
        let imported = workspace.tools.iter().filter(|tool| tool.is_foreign());
        let origin = |tool: &Tool| (tool.name.value.clone(), tool.server.clone().unwrap_or_else(|| tool.category.clone()));
        Self { servers, others: Box::new(others), origins: imported.map(origin).collect() }
    }

    async fn call(&mut self, tool: &str, args: &Map<String, Value>) -> Result<Value, SourceError> {
        if let Some(server) = self.servers.iter().find(|server| server.tools.contains(tool)) {
            return server.source.0.lock().await.call(tool, args).await;
        }
        match &mut *self.others {
            ForeignSource::Recorded(source) => source.call(tool, args).await,
            ForeignSource::Stubbed(source) => source.call(tool, args).await,
            ForeignSource::NoSource | ForeignSource::Live(_) => {
                let server = self.origins.get(tool).map_or_else(String::new, |origin| crate::mcp::printable(origin, 200));
                Err(SourceError::OtherServer { tool: crate::mcp::printable(tool, 100), server })
            }
        }
    }
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
        let imported = workspace.tools.iter().filter(|tool| tool.is_foreign());
        let tools = imported
            .map(|tool| RemoteTool { listing: tool.listing(), output_schema: tool.output.clone(), declared_effect: None })
            .collect();
        Self::Stubbed(StubSource::new(tools, seed))
    }

    pub(super) async fn call(&mut self, tool: &str, args: &Map<String, Value>) -> Result<Value, ForeignError> {
        self.call_source(tool, args).await.map_err(|error| match error {
            SourceError::Failed { message, .. } => ForeignError::Tool(message),
            SourceError::NotRecorded { .. } => ForeignError::NotRecorded(error.with_remedy()),
            SourceError::NoSchema { .. }
            | SourceError::Unstubbable { .. }
            | SourceError::WriteNotAllowed { .. }
            | SourceError::OtherServer { .. } => ForeignError::NotAnswered(error.with_remedy()),
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
            Self::Live(servers) => servers.call(tool, args).await,
        }
    }
}
