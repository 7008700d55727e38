//! The MCP edge against real counterparts: our own server in memory, a public npm server, and servers that mean us harm.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

mod hostile_http;
mod hostile_stdio;
mod memory;
mod public_server;

use std::time::Duration;

use bardo_eval_world::mcp::{McpEndpoint, McpLimits};

/// Room for a slow machine: a test that expects an answer never fails for being 5 s late.
fn generous_limits() -> McpLimits {
    McpLimits { time: Duration::from_secs(60), ..McpLimits::default() }
}

fn command(program: &str, args: &[&str]) -> McpEndpoint {
    let args = args.iter().map(|arg| (*arg).to_owned()).collect();
    McpEndpoint::Command { program: program.to_owned(), args, env: vec![("PATH".to_owned(), path())] }
}

#[expect(clippy::disallowed_methods, reason = "node is wherever the shell that runs the tests finds it")]
fn path() -> String {
    std::env::var("PATH").expect("PATH is set")
}
