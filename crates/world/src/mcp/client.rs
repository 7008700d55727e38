//! Lists the tools of an MCP server, over stdio of a child process or over HTTP. All server output is untrusted.

use rmcp::transport::async_rw::AsyncRwTransport;

use super::diagnostics::StreamDiagnostics;
use super::error::{McpError, McpFault};
use super::http;
use super::limits::McpLimits;
use super::metered_reader::MeteredReader;
use super::printable::printable;
use super::server_listing::ServerListing;
use super::server_process::{ProcessExit, ServerProcess};
use super::session;

/// Location of an MCP server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum McpEndpoint {
    /// Program that speaks MCP on stdin and stdout. Its environment is `env` alone, without our variables and without PATH.
    Command { program: String, args: Vec<String>, env: Vec<(String, String)> },
    /// URL of a streamable HTTP endpoint.
    Url(String),
}

/// Lists the tools of `source`. A child process has ended when this returns, also after an error.
pub async fn list_tools(source: &McpEndpoint, limits: &McpLimits) -> Result<ServerListing, McpError> {
    match source {
        McpEndpoint::Command { program, args, env } => list_over_stdio(program, args, env, limits).await,
        McpEndpoint::Url(url) => list_over_http(url, limits).await,
    }
}

async fn list_over_stdio(program: &str, args: &[String], env: &[(String, String)], limits: &McpLimits) -> Result<ServerListing, McpError> {
    let name = display_command(program, args);
    let (child, pipes) = match ServerProcess::start(program, args, env) {
        Ok(started) => started,
        Err(error) => {
            return Err(McpError::new(name, McpFault::NotStarted { why: error.to_string() }));
        }
    };
    let notes = StreamDiagnostics::default();
    let stdout = MeteredReader::new(pipes.stdout, *limits, notes.clone());
    // The metered reader enforces the limit with an error. The limit of the SDK would drop the message and wait for the next.
    let transport = AsyncRwTransport::new(stdout, pipes.stdin).with_max_line_length(usize::MAX);
    let outcome = session::list_tools(transport, limits).await;
    let exit = child.stop().await;
    outcome.map_err(|fault| McpError {
        server: name,
        fault: Box::new(notes.fault_or(with_exit_status(fault, &exit))),
        stray: notes.first_stray(),
        stderr: exit.stderr,
    })
}

pub(super) fn display_command(program: &str, args: &[String]) -> String {
    printable(&[&[program.to_owned()], args].concat().join(" "), 200)
}

// The SDK only sees that the pipe was closed, so the exit status of the child is added here.
pub(super) fn with_exit_status(fault: McpFault, exit: &ProcessExit) -> McpFault {
    if !matches!(fault, McpFault::Ended { .. }) {
        return fault;
    }
    let how = exit.status.map(|status| status.to_string());
    McpFault::Ended { how: how.unwrap_or_else(|| "it closed its stdout but kept running".to_owned()) }
}

async fn list_over_http(url: &str, limits: &McpLimits) -> Result<ServerListing, McpError> {
    let notes = StreamDiagnostics::default();
    let name = http::display_url(url);
    let outcome = match http::connect(url, *limits, notes.clone()) {
        Ok(transport) => session::list_tools(transport, limits).await,
        Err(fault) => Err(fault),
    };
    outcome.map_err(|fault| McpError::new(name, notes.fault_or(fault)))
}
