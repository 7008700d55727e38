//! Tools that were imported from somebody else's MCP server: who answers for them in a trial.

use super::tool_error::ToolError;
use super::world::LiveWorld;
use crate::mcp::source::{Offer, Recorded, Source, SourceError, Stubbed};
use model::transcript::{ToolAnswer, ToolErrorCode};
use model::{OpClass, Tool, Workspace};
use serde_json::{Map, Value};
use std::fmt;
use std::sync::Arc;
use tokio::sync::Mutex;

/// Where imported tools get their answers. A clone for each trial: what a recording or a stub remembers of a trial stays in it.
#[derive(Debug, Clone, Default)]
pub enum Foreign {
    /// Nobody was named. Calling an imported tool breaks the trial.
    #[default]
    Nobody,
    Recorded(Recorded),
    Stubbed(Stubbed),
    /// A server that runs, shared by all trials: nobody else can tell what it remembers between them.
    Live(LiveSource),
}

/// A source that several trials ask in turn.
#[derive(Clone)]
pub struct LiveSource(Arc<Mutex<Box<dyn Source>>>);

impl LiveSource {
    pub fn new(source: impl Source + 'static) -> Self {
        Self(Arc::new(Mutex::new(Box::new(source))))
    }
}

impl fmt::Debug for LiveSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LiveSource").finish_non_exhaustive()
    }
}

impl Foreign {
    /// Answers made up from what the imported tools say of their results.
    pub fn stubs(workspace: &Workspace, seed: u64) -> Self {
        let imported = workspace.tools.iter().filter(|tool| is_foreign(tool));
        let offers = imported.map(|tool| Offer { listing: tool.listing(), output_schema: tool.output.clone() }).collect();
        Self::Stubbed(Stubbed::new(offers, seed))
    }

    async fn call(&mut self, tool: &str, args: &Map<String, Value>) -> Result<Value, SourceError> {
        match self {
            Self::Nobody => Err(SourceError::Nobody { tool: crate::mcp::shown(tool, 100) }),
            Self::Recorded(source) => source.call(tool, args).await,
            Self::Stubbed(source) => source.call(tool, args).await,
            Self::Live(LiveSource(source)) => source.lock().await.call(tool, args).await,
        }
    }
}

/// Imported, and nobody has said how this world would act it out.
pub fn is_foreign(tool: &Tool) -> bool {
    tool.pinned.is_some() && tool.view.is_none() && matches!(tool.acts.class(), OpClass::PassThrough | OpClass::Read)
}

impl LiveWorld {
    /// What a tool says of itself is its answer; that it could not be asked is ours, and ends the trial.
    pub(super) async fn abroad(&mut self, tool: &Tool, args: &Map<String, Value>) -> Result<ToolAnswer, ToolError> {
        match self.setup.foreign.call(&tool.name, args).await {
            Ok(value) => Ok(ToolAnswer::Result(value)),
            Err(SourceError::Failed { message, .. }) => Err(ToolError::new(ToolErrorCode::ExternalToolFailed, message)),
            Err(
                error @ (SourceError::Server(_)
                | SourceError::Nobody { .. }
                | SourceError::UnknownTool { .. }
                | SourceError::NotRecorded { .. }
                | SourceError::NoSchema { .. }
                | SourceError::Unstubbable { .. }
                | SourceError::BadRecording { .. }
                | SourceError::NotWritten { .. }),
            ) => {
                self.broken.get_or_insert_with(|| error.to_string());
                Err(ToolError::new(ToolErrorCode::ExternalToolUnavailable, error.to_string()))
            }
        }
    }
}
