//! Connects to an MCP server and lists its tools.

use crate::args::ServerArgs;
use crate::env;
use crate::exit::ExitKind;
use crate::io::CliOutput;
use crate::report;
use model::UserError;
use std::time::Duration;
use world::mcp::{McpEndpoint, McpLimits, ServerListing};

/// Returns the server named by the arguments.
pub(crate) fn server_source(args: &ServerArgs) -> Result<McpEndpoint, UserError> {
    match (&args.mcp, &args.mcp_url) {
        (Some(command), _) => command_source(command, env::child_env(&args.pass_env)),
        (None, Some(url)) => Ok(McpEndpoint::Url(url.clone())),
        (None, None) => Err(UserError::without_remedy("give a server with --mcp or --mcp-url")),
    }
}

/// Parses a command line with shell quoting; no shell runs it.
pub(crate) fn command_source(command: &str, env: Vec<(String, String)>) -> Result<McpEndpoint, UserError> {
    let mut words =
        shlex::split(command).ok_or_else(|| UserError::without_remedy(format!("the quotes in `{command}` do not match")))?.into_iter();
    let program = words.next().ok_or_else(|| UserError::without_remedy("the command is empty"))?;
    Ok(McpEndpoint::Command { program, args: words.collect(), env })
}

/// Lists the server's tools; prints a message if that takes more than a second.
pub(crate) fn list_tools(io: &CliOutput, command: &str, source: &McpEndpoint, seconds: u64) -> Result<ServerListing, ExitKind> {
    let limits = McpLimits { timeout: Duration::from_secs(seconds), ..McpLimits::default() };
    let work = async {
        let mut listing = std::pin::pin!(world::mcp::list_tools(source, &limits));
        match tokio::time::timeout(Duration::from_secs(1), &mut listing).await {
            Ok(listed) => listed,
            Err(_) => {
                io.print_message(&format!("waiting for the server, {seconds} s at most …"));
                listing.await
            }
        }
    };
    let listed = match crate::commands::block_on(work) {
        Ok(Ok(listed)) => listed,
        Ok(Err(error)) => {
            return Err(report::print_error(io, command, &error.into()));
        }
        Err(error) => {
            io.print_message(&format!("cannot start the async runtime: {error}"));
            return Err(ExitKind::Incomplete);
        }
    };
    if listed.tools.is_empty() {
        io.print_message("the server lists no tools; nothing was done");
        return Err(ExitKind::Incomplete);
    }
    Ok(listed)
}
