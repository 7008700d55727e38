//! Why a source has no answer. A tool's own failure is one thing, a broken server or a missing recording another.

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
    #[error("there is no tool {tool}  {guess}")]
    UnknownTool { tool: String, guess: String },
    #[error("nobody answers for the imported tool {tool}; record it, or have it stubbed or passed through")]
    Nobody { tool: String },
    #[error("no recording of {tool} with {args}; {nearest}; record the run again or change the case")]
    NotRecorded { tool: String, args: String, nearest: String },
    #[error("{tool} has no output schema, so no answer can be made up for it; pass it through or record it")]
    NoSchema { tool: String },
    #[error("no answer fits the output schema of {tool}: {why}")]
    Unstubbable { tool: String, why: String },
    #[error("line {line} of the recording cannot be read: {why}")]
    BadRecording { line: usize, why: String },
    #[error("the recording cannot be written: {why}")]
    NotWritten { why: String },
}
