//! Errors of tool sources. A failure of the tool reaches the model; all others are failures of the harness.

use model::UserError;
use thiserror::Error;

use crate::mcp::error::McpError;

#[derive(Debug, Error)]
pub enum SourceError {
    /// The tool reported an error, which the model reads.
    #[error("{tool} failed: {message}")]
    Failed { tool: String, message: String },
    /// The server violated the protocol or a limit, or has ended.
    #[error(transparent)]
    Server(#[from] McpError),
    #[error("there is no tool {tool}")]
    UnknownTool { tool: String, guess: String },
    #[error("no source is configured for the imported tool {tool}")]
    NoSource { tool: String },
    #[error("{tool} is a tool of the MCP server {server}, which is not running")]
    OtherServer { tool: String, server: String },
    #[error("no recording of {tool} with {args}; {nearest}")]
    NotRecorded { tool: String, args: String, nearest: String },
    #[error("{tool} has no output schema, so no stub can be generated")]
    NoSchema { tool: String },
    #[error("no answer fits the output schema of {tool}: {why}")]
    Unstubbable { tool: String, why: String },
    #[error("{tool} writes on the server, which this run may not")]
    WriteNotAllowed { tool: String },
    #[error("line {line} of the recording cannot be read: {why}")]
    BadRecording { line: usize, why: String },
    #[error("the recording cannot be written: {why}")]
    NotWritten { why: String },
}

impl SourceError {
    /// Returns the remedy for the user; empty if none is known.
    pub fn remedy(&self) -> &str {
        match self {
            SourceError::Server(error) => error.fault.remedy(),
            SourceError::UnknownTool { guess, .. } => guess,
            SourceError::NoSource { .. } => "set --imported-tools to recorded, stub, live:… or record:…",
            SourceError::OtherServer { .. } => "name it too, with another --imported-tools live:… or record:…, or record it first",
            SourceError::NotRecorded { .. } => "record the calls again with --imported-tools record:…, or change the case",
            SourceError::WriteNotAllowed { .. } => "answer it in worlds/, or add --allow-writes if the server holds nothing of value",
            SourceError::NoSchema { .. } => "use --imported-tools live:… or record:…",
            SourceError::Failed { .. }
            | SourceError::Unstubbable { .. }
            | SourceError::BadRecording { .. }
            | SourceError::NotWritten { .. } => "",
        }
    }

    /// Returns the error and its remedy, for the ending of a trial.
    pub(crate) fn with_remedy(&self) -> String {
        // The text of a server error already contains the remedy.
        let complete = self.remedy().is_empty() || matches!(self, SourceError::Server(_));
        if complete { self.to_string() } else { format!("{self}; {}", self.remedy()) }
    }
}

impl From<SourceError> for UserError {
    fn from(error: SourceError) -> Self {
        match error {
            SourceError::Server(error) => error.into(),
            SourceError::Failed { .. }
            | SourceError::UnknownTool { .. }
            | SourceError::NoSource { .. }
            | SourceError::OtherServer { .. }
            | SourceError::NotRecorded { .. }
            | SourceError::NoSchema { .. }
            | SourceError::Unstubbable { .. }
            | SourceError::WriteNotAllowed { .. }
            | SourceError::BadRecording { .. }
            | SourceError::NotWritten { .. } => UserError::new(error.to_string(), error.remedy()),
        }
    }
}
