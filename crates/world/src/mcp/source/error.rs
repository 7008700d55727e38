//! Why a source has no answer. A tool's own failure is one thing, a broken server or a missing recording another.

use model::UserError;
use thiserror::Error;

use crate::mcp::error::McpError;

#[derive(Debug, Error)]
pub enum SourceError {
    /// The tool ran and says that it failed; this reaches the model.
    #[error("{tool} failed: {message}")]
    Failed { tool: String, message: String },
    /// The server did not keep to the protocol or to our limits, or is gone.
    #[error(transparent)]
    Server(#[from] McpError),
    #[error("there is no tool {tool}")]
    UnknownTool { tool: String, guess: String },
    #[error("nobody answers for the imported tool {tool}")]
    NoSource { tool: String },
    #[error("no recording of {tool} with {args}; {nearest}")]
    NotRecorded { tool: String, args: String, nearest: String },
    #[error("{tool} has no output schema, so no answer can be made up for it")]
    NoSchema { tool: String },
    #[error("no answer fits the output schema of {tool}: {why}")]
    Unstubbable { tool: String, why: String },
    #[error("line {line} of the recording cannot be read: {why}")]
    BadRecording { line: usize, why: String },
    #[error("the recording cannot be written: {why}")]
    NotWritten { why: String },
}

impl SourceError {
    /// Returns what the user can do; empty where nothing is known to help.
    pub fn remedy(&self) -> &str {
        match self {
            SourceError::Server(error) => error.fault.remedy(),
            SourceError::UnknownTool { guess, .. } => guess,
            SourceError::NoSource { .. } => "record it, or have it stubbed or passed through",
            SourceError::NotRecorded { .. } => "record the run again or change the case",
            SourceError::NoSchema { .. } => "pass it through or record it",
            SourceError::Failed { .. }
            | SourceError::Unstubbable { .. }
            | SourceError::BadRecording { .. }
            | SourceError::NotWritten { .. } => "",
        }
    }

    /// Returns what is wrong together with the remedy, for the ending of a trial.
    pub(crate) fn with_remedy(&self) -> String {
        // A server's error names the remedy before it quotes the server.
        let says_all = self.remedy().is_empty() || matches!(self, SourceError::Server(_));
        if says_all { self.to_string() } else { format!("{self}; {}", self.remedy()) }
    }
}

impl From<SourceError> for UserError {
    fn from(error: SourceError) -> Self {
        match error {
            SourceError::Server(error) => error.into(),
            SourceError::Failed { .. }
            | SourceError::UnknownTool { .. }
            | SourceError::NoSource { .. }
            | SourceError::NotRecorded { .. }
            | SourceError::NoSchema { .. }
            | SourceError::Unstubbable { .. }
            | SourceError::BadRecording { .. }
            | SourceError::NotWritten { .. } => UserError::new(error.to_string(), error.remedy()),
        }
    }
}
