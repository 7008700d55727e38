//! Guard named on the command line.

use crate::args::GuardEvalArgs;
use crate::commands::tools::server::command_source;
use crate::env;
use ::run::external::{AgentSandbox, GuardClient, GuardEndpoint, HostEnvironment, ScorerHost};
use model::UserError;
use std::time::Duration;

#[derive(Debug)]
pub(super) enum GuardSource {
    Embedded,
    External(Box<GuardClient>),
}

/// Parses `embedded`, `process:CMD`, `http:URL` or `mcp:CMD`.
pub(super) fn parse_guard(args: &GuardEvalArgs) -> Result<GuardSource, UserError> {
    let remedy = "write embedded, process:CMD, http:URL or mcp:CMD";
    let wrong = || UserError::new(format!("--guard \"{}\" is not a guard", args.guard), remedy);
    let endpoint = match args.guard.split_once(':') {
        None if args.guard == "embedded" => return Ok(GuardSource::Embedded),
        Some(("process", command)) => match shlex::split(command) {
            Some(words) if !words.is_empty() => GuardEndpoint::Process(words),
            Some(_) | None => return Err(wrong()),
        },
        Some(("mcp", command)) if !command.trim().is_empty() => {
            GuardEndpoint::Mcp(command_source(command, env::child_env(&args.pass_env))?)
        }
        Some(("http" | "https", rest)) => {
            let url = if rest.starts_with("http://") || rest.starts_with("https://") { rest } else { &args.guard };
            GuardEndpoint::Http(url.to_owned())
        }
        Some(_) | None => return Err(wrong()),
    };
    let environment =
        HostEnvironment { variable: env::var, folder: env::current_dir(), workspace: None, sandbox: AgentSandbox::unconfined() };
    let host = ScorerHost { environment, ..ScorerHost::default() };
    Ok(GuardSource::External(Box::new(GuardClient { endpoint, host, timeout: Duration::from_secs(args.timeout) })))
}
