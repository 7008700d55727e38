//! Guard named on the command line.

use crate::commands::tools::server::command_source;
use crate::env;
use ::run::external::{AgentSandbox, GuardClient, GuardEndpoint, GuardMonitor, HostEnvironment, ScorerHost};
use ::run::{SecretRedactor, SubjectGuard};
use model::UserError;
use std::sync::Arc;
use std::time::Duration;

/// Time for the answer to the texts of one move.
const MOVE_TIMEOUT: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub(super) enum GuardSource {
    Embedded,
    External(Box<GuardClient>),
}

/// Parses `embedded`, `process:CMD`, `http:URL` or `mcp:CMD`.
pub(super) fn parse_guard(guard: &str, pass_env: &[String], timeout: Duration) -> Result<GuardSource, UserError> {
    let remedy = "write embedded, process:CMD, http:URL or mcp:CMD";
    let wrong = || UserError::new(format!("--guard \"{guard}\" is not a guard"), remedy);
    let endpoint = match guard.split_once(':') {
        None if guard == "embedded" => return Ok(GuardSource::Embedded),
        Some(("process", command)) => match shlex::split(command) {
            Some(words) if !words.is_empty() => GuardEndpoint::Process(words),
            Some(_) | None => return Err(wrong()),
        },
        Some(("mcp", command)) if !command.trim().is_empty() => GuardEndpoint::Mcp(command_source(command, env::child_env(pass_env))?),
        Some(("http" | "https", rest)) => {
            let url = if rest.starts_with("http://") || rest.starts_with("https://") { rest } else { guard };
            GuardEndpoint::Http(url.to_owned())
        }
        Some(_) | None => return Err(wrong()),
    };
    let environment = HostEnvironment {
        variable: env::var,
        folder: env::current_dir(),
        workspace: None,
        sandbox: AgentSandbox::unconfined(),
        passed: pass_env.to_vec(),
        own_program: None,
    };
    let host = ScorerHost { environment, secrets: SecretRedactor::default().with_variables(pass_env, env::var), ..ScorerHost::default() };
    Ok(GuardSource::External(Box::new(GuardClient { endpoint, host, timeout })))
}

/// Returns the guard in front of the subjects of a run.
///
/// # Errors
/// If the text names no guard.
pub(in crate::commands) fn subject_guard(guard: &str, pass_env: &[String]) -> Result<SubjectGuard, UserError> {
    Ok(match parse_guard(guard, pass_env, MOVE_TIMEOUT)? {
        GuardSource::Embedded => SubjectGuard::Embedded(Arc::default()),
        GuardSource::External(client) => SubjectGuard::External(Arc::new(GuardMonitor::new(*client))),
    })
}
