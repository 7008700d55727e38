//! Source of a workspace: a folder, or the copy embedded in the program.

use crate::args::GlobalArgs;
use crate::files;
use model::{Problem, Workspace, WorkspaceFiles};
use std::path::{Path, PathBuf};

mod embedded {
    include!(concat!(env!("OUT_DIR"), "/embedded.rs"));
}

pub(crate) use embedded::FILES as EMBEDDED;

/// Source of a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WorkspaceSource {
    Embedded,
    Folder(PathBuf),
}

impl WorkspaceSource {
    /// Returns the source named by the arguments; by default `./evals` if it exists, else the embedded workspace.
    pub(crate) fn choose(global: &GlobalArgs) -> Self {
        match &global.workspace {
            Some(folder) => WorkspaceSource::Folder(folder.clone()),
            None if !global.embedded && files::exists(Path::new("evals")) => WorkspaceSource::Folder("evals".into()),
            None => WorkspaceSource::Embedded,
        }
    }

    pub(crate) fn label(&self) -> String {
        match self {
            WorkspaceSource::Embedded => "embedded".into(),
            WorkspaceSource::Folder(folder) => folder.display().to_string(),
        }
    }

    pub(crate) fn files(&self) -> Result<WorkspaceFiles, Vec<Problem>> {
        match self {
            WorkspaceSource::Embedded => Ok(EMBEDDED.iter().copied().collect()),
            WorkspaceSource::Folder(folder) => files::read_folder(folder),
        }
    }

    pub(crate) fn open(&self) -> Result<Workspace, Vec<Problem>> {
        Workspace::load(&self.files()?)
    }
}
