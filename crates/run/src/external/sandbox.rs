//! Confinement of an external agent: the sandbox of the run, with the grants of its command and its subject file.

use super::host_environment::HostEnvironment;
use launcher::{GrantRequest, ProgramConfinement, SandboxMode};
use model::ExternalAgent;
use std::io;
use std::path::{Path, PathBuf};

/// Agent that is about to be started.
#[derive(Debug)]
pub(super) struct AgentStart<'s> {
    pub(super) agent: &'s ExternalAgent,
    pub(super) command: &'s [String],
    pub(super) env: &'s [(String, String)],
    pub(super) own_folder: &'s Path,
    /// Port of the trial's endpoints.
    pub(super) port: u16,
}

/// Returns the confinement of an agent.
///
/// # Errors
/// If its program, or a path that its subject file grants, does not exist.
pub(super) fn confinement(host: &HostEnvironment, start: &AgentStart<'_>) -> io::Result<ProgramConfinement> {
    let choice = &host.sandbox.choice;
    if choice.mode == SandboxMode::Unconfined {
        return Ok(ProgramConfinement::Unconfined);
    }
    let home = (host.variable)("HOME").map(PathBuf::from);
    let read = start.agent.read.iter().map(|path| granted_path(host, home.as_deref(), path)).collect::<io::Result<Vec<PathBuf>>>()?;
    let connect: Vec<u16> = start.agent.connect.iter().copied().chain([start.port]).collect();
    let grants = GrantRequest {
        command: start.command,
        search_path: start.env.iter().rev().find(|(name, _)| name == "PATH").map(|(_, value)| value.as_str()),
        own_folder: start.own_folder,
        home: home.as_deref(),
        read: &read,
        withheld: &host.sandbox.withheld,
        connect: &connect,
    };
    let grants = grants.resolve()?;
    Ok(match choice.bwrap.clone() {
        Some(program) => ProgramConfinement::Bubblewrap { program, grants },
        None => ProgramConfinement::Landlock(grants),
    })
}

/// Returns a granted path as an absolute one; `~/` is the home folder of the user.
fn granted_path(host: &HostEnvironment, home: Option<&Path>, written: &str) -> io::Result<PathBuf> {
    let path = match (written.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        (Some(_), None) | (None, _) => host.folder.join(written),
    };
    let missing = |error: io::Error| io::Error::new(error.kind(), format!("its subject file grants read of {written}: {error}"));
    path.canonicalize().map_err(missing)
}
