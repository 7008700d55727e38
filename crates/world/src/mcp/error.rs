//! Errors of MCP servers: the fault, the server and the remedy.

use std::time::Duration;

use model::UserError;
use rmcp::ErrorData;
use thiserror::Error;

use super::printable::printable;

/// Error of an MCP server.
#[derive(Debug, Error)]
#[error("MCP server `{server}` {fault}; {}{}", fault.remedy(), self.output_excerpt())]
pub struct McpError {
    /// Command or URL of the server, without secrets.
    pub server: String,
    pub fault: Box<McpFault>,
    /// First line on stdout that is not a message. It often explains the fault.
    pub stray: String,
    /// Last 2 KiB of stderr; empty for HTTP.
    pub stderr: String,
}

/// Fault of a server. Texts from the server are already escaped for printing.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum McpFault {
    #[error("cannot be started: {why}")]
    NotStarted { why: String },
    #[error("did not finish listing its tools within {within:?}")]
    NoAnswer { within: Duration },
    #[error("did not answer a call of \"{tool}\" within {within:?}")]
    Unanswered { tool: String, within: Duration },
    #[error("ended during a call of \"{tool}\" ({how})")]
    Left { tool: String, how: String },
    #[error("ended before it had listed its tools ({how})")]
    Ended { how: String },
    #[error("cannot be reached: {why}")]
    Unreachable { why: String },
    #[error("answered HTTP {status}: {said}")]
    Status { status: u16, said: String },
    #[error("does not speak MCP: {why}")]
    NotMcp { why: String },
    #[error("refused to list its tools: error {code}, {message}")]
    Refused { code: i32, message: String },
    #[error("sent more than {limit} {what}")]
    TooMuch { what: BoundedQuantity, limit: usize },
    #[error("sent the cursor \"{cursor}\" twice, so its list would never end")]
    RepeatedCursor { cursor: String },
    #[error("lists two tools named \"{tool}\"")]
    RepeatedTool { tool: String },
    #[error("lists a tool that cannot be used, \"{tool}\": {why}")]
    BadTool { tool: String, why: String },
}

/// Quantity that exceeded its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum BoundedQuantity {
    #[error("bytes in one message")]
    Message,
    #[error("bytes in all")]
    Total,
    #[error("lines")]
    Lines,
    #[error("lines that are not messages")]
    StrayLines,
    #[error("tools")]
    Tools,
    #[error("pages of tools")]
    Pages,
    #[error("bytes in one tool name")]
    Name,
    #[error("bytes in one description")]
    Description,
    #[error("bytes in one input schema")]
    Schema,
    #[error("bytes in one output schema")]
    OutputSchema,
}

impl McpFault {
    pub(super) fn refused(error: &ErrorData) -> Self {
        McpFault::Refused { code: error.code.0, message: printable(&error.message, 300) }
    }

    /// Returns the remedy for the user.
    pub fn remedy(&self) -> &'static str {
        match self {
            McpFault::NotStarted { .. } => "check that the program exists and that PATH is among the variables it gets",
            McpFault::NoAnswer { .. } | McpFault::Unanswered { .. } => "run it manually to see what it waits for, or increase the timeout",
            McpFault::Ended { .. } | McpFault::Left { .. } => {
                "run the same command manually; it gets only the environment variables that were allowed"
            }
            McpFault::Unreachable { .. } => "check the URL and that the server is running",
            McpFault::Status { .. } => "check the path of the URL; credentials are not sent",
            McpFault::NotMcp { .. } => "check that this is an MCP server and not its launcher, web page or another protocol",
            McpFault::Refused { .. } => "the server rejected the request; check its documentation or ask its author",
            McpFault::TooMuch { .. } => "list a smaller server, or raise the limit if you trust this one",
            McpFault::RepeatedCursor { .. } | McpFault::RepeatedTool { .. } | McpFault::BadTool { .. } => {
                "this is a defect of the server; report it to its author"
            }
        }
    }
}

impl From<McpError> for UserError {
    fn from(error: McpError) -> Self {
        UserError::new(format!("MCP server `{}` {}{}", error.server, error.fault, error.output_excerpt()), error.fault.remedy())
    }
}

pub(super) fn check_limit(count: usize, limit: usize, what: BoundedQuantity) -> Result<(), McpFault> {
    if count > limit { Err(McpFault::TooMuch { what, limit }) } else { Ok(()) }
}

impl McpError {
    pub(super) fn new(server: impl Into<String>, fault: McpFault) -> Self {
        McpError { server: server.into(), fault: Box::new(fault), stray: String::new(), stderr: String::new() }
    }

    /// Returns the output of the server, each stream below its title; empty if it printed nothing.
    fn output_excerpt(&self) -> String {
        let stray = Self::quoted("on its stdout, among its messages", &self.stray);
        stray + &Self::quoted("the end of its stderr", &self.stderr)
    }

    fn quoted(title: &str, text: &str) -> String {
        if text.is_empty() { String::new() } else { format!("\n{title}:\n  {}", text.replace('\n', "\n  ")) }
    }
}

#[cfg(test)]
mod tests {
    use super::{BoundedQuantity, McpError, McpFault};

    #[test]
    fn mcp_error_shows_server_fault_remedy_and_stderr() {
        let mut error = McpError::new("npx things", McpFault::TooMuch { what: BoundedQuantity::Tools, limit: 2_000 });
        error.stderr = "warming up\nboom".to_owned();
        assert_eq!(
            error.to_string(),
            "MCP server `npx things` sent more than 2000 tools; list a smaller server, or raise the limit if you trust this one\n\
             the end of its stderr:\n  warming up\n  boom"
        );
    }
}
