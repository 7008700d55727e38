//! Asks any MCP server, started as a child or reached over HTTP, which tools it has. Everything it sends is hostile.

use rmcp::transport::async_rw::AsyncRwTransport;

use super::child::{Child, Remains};
use super::error::{Fault, McpError};
use super::http;
use super::limits::Limits;
use super::listed::Listed;
use super::meter::Meter;
use super::notes::Notes;
use super::session;
use super::shown::shown;

/// Where a server is found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A program that speaks MCP on stdin and stdout. It sees `env` and nothing else of our environment, not even PATH.
    Command { program: String, args: Vec<String>, env: Vec<(String, String)> },
    /// The endpoint of a server that speaks streamable HTTP.
    Url(String),
}

/// Lists the tools of `source`. When this returns, in success or failure, a started child is gone.
pub async fn list(source: &Source, limits: &Limits) -> Result<Listed, McpError> {
    match source {
        Source::Command { program, args, env } => over_stdio(program, args, env, limits).await,
        Source::Url(url) => over_http(url, limits).await,
    }
}

async fn over_stdio(program: &str, args: &[String], env: &[(String, String)], limits: &Limits) -> Result<Listed, McpError> {
    let name = shown_command(program, args);
    let (child, pipes) = match Child::start(program, args, env) {
        Ok(started) => started,
        Err(error) => {
            return Err(McpError::new(name, Fault::NotStarted { why: error.to_string() }));
        }
    };
    let notes = Notes::default();
    let stdout = Meter::new(pipes.stdout, *limits, notes.clone());
    // The meter cuts first; were the SDK to cut, it would drop the message and wait for another.
    let transport = AsyncRwTransport::new(stdout, pipes.stdin).with_max_line_length(usize::MAX);
    let outcome = session::list(transport, limits).await;
    let remains = child.stop().await;
    outcome.map_err(|fault| McpError {
        server: name,
        fault: Box::new(notes.cause_of(with_status(fault, &remains))),
        stray: notes.first_stray(),
        stderr: remains.stderr,
    })
}

pub(super) fn shown_command(program: &str, args: &[String]) -> String {
    shown(&[&[program.to_owned()], args].concat().join(" "), 200)
}

// Over a pipe the SDK only sees the end; how it ended is known to whoever waited for the child.
pub(super) fn with_status(fault: Fault, remains: &Remains) -> Fault {
    if !matches!(fault, Fault::Ended { .. }) {
        return fault;
    }
    let how = remains.status.map(|status| status.to_string());
    Fault::Ended { how: how.unwrap_or_else(|| "it closed its stdout and went on running".to_owned()) }
}

async fn over_http(url: &str, limits: &Limits) -> Result<Listed, McpError> {
    let notes = Notes::default();
    let name = http::shown_url(url);
    let outcome = match http::connect(url, *limits, notes.clone()) {
        Ok(transport) => session::list(transport, limits).await,
        Err(fault) => Err(fault),
    };
    outcome.map_err(|fault| McpError::new(name, notes.cause_of(fault)))
}
