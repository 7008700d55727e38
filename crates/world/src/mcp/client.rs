//! Asks any MCP server, started as a child or reached over HTTP, which tools it has. Everything it sends is hostile.

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

/// Where a server is found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum McpEndpoint {
    /// A program that speaks MCP on stdin and stdout. It sees `env` and nothing else of our environment, not even PATH.
    Command { program: String, args: Vec<String>, env: Vec<(String, String)> },
    /// The endpoint of a server that speaks streamable HTTP.
    Url(String),
}

/// Lists the tools of `source`. When this returns, in success or failure, a started child is gone.
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
    // The meter cuts first; were the SDK to cut, it would drop the message and wait for another.
    let transport = AsyncRwTransport::new(stdout, pipes.stdin).with_max_line_length(usize::MAX);
    let outcome = session::list_tools(transport, limits).await;
    let remains = child.stop().await;
    outcome.map_err(|fault| McpError {
        server: name,
        fault: Box::new(notes.fault_or(with_exit_status(fault, &remains))),
        stray: notes.first_stray(),
        stderr: remains.stderr,
    })
}

pub(super) fn display_command(program: &str, args: &[String]) -> String {
    printable(&[&[program.to_owned()], args].concat().join(" "), 200)
}

// Over a pipe the SDK only sees the end; how it ended is known to whoever waited for the child.
pub(super) fn with_exit_status(fault: McpFault, remains: &ProcessExit) -> McpFault {
    if !matches!(fault, McpFault::Ended { .. }) {
        return fault;
    }
    let how = remains.status.map(|status| status.to_string());
    McpFault::Ended { how: how.unwrap_or_else(|| "it closed its stdout and went on running".to_owned()) }
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
