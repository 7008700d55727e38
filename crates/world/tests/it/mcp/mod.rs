//! MCP client and server tests: own server in memory, a public npm server, and hostile servers.
#![expect(clippy::unwrap_used, reason = "a failing test should name the line")]

mod hostile_http;
mod hostile_stdio;
mod memory;
mod public_server;

use std::time::Duration;

use bardo_eval_world::mcp::{McpEndpoint, McpLimits};

/// Limits with long timeouts, so that slow machines do not fail tests that expect an answer.
fn generous_limits() -> McpLimits {
    McpLimits { timeout: Duration::from_secs(60), ..McpLimits::default() }
}

fn command(program: &str, args: &[&str]) -> McpEndpoint {
    let args = args.iter().map(|arg| (*arg).to_owned()).collect();
    McpEndpoint::Command { program: program.to_owned(), args, env: vec![("PATH".to_owned(), path())] }
}

#[expect(clippy::disallowed_methods, reason = "node is found through the PATH of the test run")]
fn path() -> String {
    std::env::var("PATH").expect("PATH is set")
}
