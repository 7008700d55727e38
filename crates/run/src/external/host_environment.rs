//! Variables, base folder and sandbox that a run gives to its external agents.

use launcher::SandboxChoice;
use std::path::PathBuf;

/// Environment of the harness: access to its variables, the base folder for relative paths in commands, and the sandbox of agents.
#[derive(Debug, Clone)]
pub struct HostEnvironment {
    pub variable: fn(&str) -> Option<String>,
    pub folder: PathBuf,
    /// Folder of the workspace, if it has one. Paths in its `scorers.yaml` start there.
    pub workspace: Option<PathBuf>,
    pub sandbox: AgentSandbox,
    /// Names of variables that every program of the run is given, besides those of its own file.
    pub passed: Vec<String>,
    /// File of this program, which hosts scripts; `None` where scripts cannot run.
    pub own_program: Option<PathBuf>,
}

impl HostEnvironment {
    /// Returns the variables that every program of the run is given, with their values.
    pub(super) fn passed_variables(&self) -> impl Iterator<Item = (String, String)> {
        self.passed.iter().filter_map(|name| (self.variable)(name).map(|value| (name.clone(), value)))
    }
}

impl Default for HostEnvironment {
    /// No variables, the current folder, and no sandbox.
    fn default() -> Self {
        Self {
            variable: |_| None,
            folder: PathBuf::new(),
            workspace: None,
            sandbox: AgentSandbox::unconfined(),
            passed: vec![],
            own_program: None,
        }
    }
}

/// Sandbox of the agents of a run.
#[derive(Debug, Clone)]
pub struct AgentSandbox {
    pub choice: SandboxChoice,
    /// Files and folders that no agent may read: workspace, store and evaluator.
    pub withheld: Vec<PathBuf>,
}

impl AgentSandbox {
    pub fn unconfined() -> Self {
        Self { choice: SandboxChoice::unconfined(), withheld: vec![] }
    }
}
