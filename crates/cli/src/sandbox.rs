//! Sandbox of external agents, as asked for on the command line.

use crate::env;
use crate::io::CliOutput;
use crate::store_location::secret_files;
use crate::workspace_source::WorkspaceSource;
use ::run::external::AgentSandbox;
use launcher::{SandboxChoice, SandboxMode};
use model::UserError;
use store::StoreLocation;

/// Files that SQLite keeps beside a store.
const STORE_SUFFIXES: &[&str] = &["", "-wal", "-shm", "-journal"];

/// Resolves the sandbox. The workspace, the store and this program are withheld from agents.
///
/// # Errors
/// If this machine lacks the sandbox that was asked for.
pub(crate) fn agent_sandbox(wish: Option<SandboxMode>, source: &WorkspaceSource, store: &StoreLocation) -> Result<AgentSandbox, UserError> {
    let choice = SandboxChoice::resolve(wish, env::find_program("bwrap"));
    let choice = choice.map_err(|error| UserError::new(error.to_string(), error.remedy()))?;
    let here = env::current_dir();
    // The default folder is withheld also if another workspace is used.
    let mut withheld = vec![here.join("evals"), here.join(".bardo-eval")];
    if let WorkspaceSource::Folder(folder) = source {
        withheld.push(here.join(folder));
    }
    match store {
        StoreLocation::File(file) => withheld.extend(STORE_SUFFIXES.iter().map(|suffix| here.join(format!("{}{suffix}", file.display())))),
        StoreLocation::Postgres(_) => withheld.extend(secret_files().into_iter().flatten()),
    }
    withheld.extend(env::own_program());
    Ok(AgentSandbox { choice, withheld })
}

/// Says once that agents are not confined because this machine cannot.
pub(crate) fn print_fallback(io: &CliOutput, choice: &SandboxChoice) {
    if choice.is_fallback {
        io.print_message(
            "agents run without a sandbox: this kernel has no Landlock; --sandbox bwrap confines them, --sandbox none says that you know",
        );
    }
}

/// Parses the sandbox stored with a run that is resumed.
pub(crate) fn stored_mode(stored: Option<&str>) -> Option<SandboxMode> {
    stored.and_then(|word| word.parse().ok())
}
