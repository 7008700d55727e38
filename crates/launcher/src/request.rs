//! Messages between the evaluator and the launcher.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Program to start. Environment and working folder are those of the launcher itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaunchRequest {
    pub command: Vec<String>,
    /// Folder that is removed if the evaluator dies.
    pub remove: Option<PathBuf>,
    pub limits: ResourceLimits,
    pub confinement: ProgramConfinement,
}

/// Resource limits of the program; `None` keeps those of the evaluator. Core dumps are always off.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResourceLimits {
    pub open_files: Option<u64>,
    pub file_bytes: Option<u64>,
}

impl ResourceLimits {
    /// Limits of external agents. Memory and processes are not limited: runtimes reserve large address spaces, and the kernel counts
    /// processes per user, not per agent.
    pub const AGENT: Self = Self { open_files: Some(4096), file_bytes: Some(1 << 30) };
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ProgramConfinement {
    Unconfined,
    Landlock(FileGrants),
    Bubblewrap { program: PathBuf, grants: FileGrants },
}

/// Files and ports that a confined program may use.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileGrants {
    /// Files and folders to read and execute, without what is withheld.
    pub read: Vec<PathBuf>,
    /// Single files to read and execute, also inside of what is withheld.
    pub files: Vec<PathBuf>,
    /// Folders whose names may be listed, with those of the folders in them.
    pub list: Vec<PathBuf>,
    /// Folders and devices to read and write.
    pub write: Vec<PathBuf>,
    /// Files and folders that `read` does not reach.
    pub withheld: Vec<PathBuf>,
    /// TCP ports to connect to.
    pub connect: Vec<u16>,
}

/// Answer of the launcher.
#[cfg(target_os = "linux")]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum LaunchReply {
    Started,
    Failed(String),
}
