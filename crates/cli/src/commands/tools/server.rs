//! Talking to an MCP server on behalf of a command.

use crate::args::ServerArgs;
use crate::env;
use crate::exit::Exit;
use crate::io::Io;
use crate::report;
use model::UserError;
use std::time::Duration;
use world::mcp::{Limits, Listed, Source};

/// The server a person named.
pub(crate) fn source(args: &ServerArgs) -> Result<Source, UserError> {
    match (&args.mcp, &args.mcp_url) {
        (Some(command), _) => from_command(command, env::for_child(&args.pass_env)),
        (None, Some(url)) => Ok(Source::Url(url.clone())),
        (None, None) => Err(UserError::plain("name a server with --mcp or --mcp-url")),
    }
}

/// A command line as a person writes it, quotes included; no shell is involved.
pub(crate) fn from_command(command: &str, env: Vec<(String, String)>) -> Result<Source, UserError> {
    let mut words = shlex::split(command).ok_or_else(|| UserError::plain(format!("the quotes in `{command}` do not match")))?.into_iter();
    let program = words.next().ok_or_else(|| UserError::plain("the command is empty"))?;
    Ok(Source::Command { program, args: words.collect(), env })
}

/// Lists the server's tools, telling a person who waits what is going on.
pub(crate) fn list(io: &Io, command: &str, source: &Source, seconds: u64) -> Result<Listed, Exit> {
    let limits = Limits { time: Duration::from_secs(seconds), ..Limits::default() };
    let work = async {
        let mut listing = std::pin::pin!(world::mcp::list(source, &limits));
        match tokio::time::timeout(Duration::from_secs(1), &mut listing).await {
            Ok(listed) => listed,
            Err(_) => {
                io.say(&format!("waiting for the server, {seconds} s at most …"));
                listing.await
            }
        }
    };
    let listed = match crate::commands::block_on(work) {
        Ok(Ok(listed)) => listed,
        Ok(Err(error)) => {
            return Err(report::complained(io, command, &error.into()));
        }
        Err(error) => {
            io.say(&format!("no runtime: {error}"));
            return Err(Exit::Incomplete);
        }
    };
    if listed.tools.is_empty() {
        io.say("the server lists no tools; nothing was done");
        return Err(Exit::Incomplete);
    }
    Ok(listed)
}
