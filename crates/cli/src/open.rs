//! Opening a workspace: a folder, or the one embedded in the program.

use crate::args::Global;
use crate::files;
use model::{Files, Problem, Workspace};
use std::path::{Path, PathBuf};

mod embedded {
    include!(concat!(env!("OUT_DIR"), "/embedded.rs"));
}

pub(crate) use embedded::FILES as EMBEDDED;

/// Where a workspace comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    Embedded,
    Folder(PathBuf),
}

impl Source {
    /// `./evals` where it exists, unless the user says otherwise.
    pub(crate) fn choose(global: &Global) -> Self {
        match &global.workspace {
            Some(folder) => Source::Folder(folder.clone()),
            None if !global.embedded && files::exists(Path::new("evals")) => Source::Folder("evals".into()),
            None => Source::Embedded,
        }
    }

    pub(crate) fn label(&self) -> String {
        match self {
            Source::Embedded => "embedded".into(),
            Source::Folder(folder) => folder.display().to_string(),
        }
    }

    pub(crate) fn files(&self) -> Result<Files, Vec<Problem>> {
        match self {
            Source::Embedded => Ok(EMBEDDED.iter().copied().collect()),
            Source::Folder(folder) => files::read_folder(folder),
        }
    }

    pub(crate) fn open(&self) -> Result<Workspace, Vec<Problem>> {
        Workspace::load(&self.files()?)
    }
}
