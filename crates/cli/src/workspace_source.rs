//! Source of a workspace: a folder, or the copy embedded in the program.

use crate::args::GlobalArgs;
use crate::{env, files};
use model::{CaseTexts, Location, Problem, Workspace, WorkspaceFiles};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

mod embedded {
    include!(concat!(env!("OUT_DIR"), "/embedded.rs"));
}

pub(crate) use embedded::FILES as EMBEDDED;

/// Defaults of runs, in the workspace or in the current folder.
pub(crate) const DEFAULTS_FILE: &str = "bardo-eval.yaml";

/// Returns whether a folder holds a workspace. A folder of tools alone may be anything.
pub(crate) fn is_workspace(folder: &Path) -> bool {
    let has_cases = files::exists(&folder.join("gates.yaml")) || files::is_folder(&folder.join("suites"));
    has_cases && files::is_folder(&folder.join("tools"))
}

/// Returns whether a folder holds anything of a workspace, so that reading it can say what is missing.
fn is_part_of_workspace(folder: &Path) -> bool {
    ["gates.yaml", "policy.yaml", "tiers.yaml", "tools"].iter().any(|name| files::exists(&folder.join(name)))
}

/// Source of a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WorkspaceSource {
    Embedded,
    Folder(PathBuf),
}

impl WorkspaceSource {
    /// Returns the source named by the arguments; by default `./evals` if it exists, else the current folder if it is a workspace, else the
    /// embedded workspace.
    pub(crate) fn choose(global: &GlobalArgs) -> Self {
        Self::of(global.workspace.as_deref(), global.embedded)
    }

    /// Returns the source that unparsed arguments name, for their help.
    pub(crate) fn named_in(args: &[OsString]) -> Self {
        let word = |n: usize| args.get(n).and_then(|word| word.to_str()).unwrap_or_default();
        let named = |n: usize| match word(n) {
            "-w" | "--workspace" => args.get(n + 1).map(PathBuf::from),
            other => other.strip_prefix("--workspace=").map(PathBuf::from),
        };
        let workspace = (1..args.len()).find_map(named);
        Self::of(workspace.as_deref(), args.iter().any(|word| word == "--embedded"))
    }

    /// Returns whether this is a workspace in which the DeFi rules are not in force.
    pub(crate) fn lacks_policy(&self) -> bool {
        match self {
            WorkspaceSource::Embedded => false,
            WorkspaceSource::Folder(folder) => is_part_of_workspace(folder) && !files::exists(&folder.join("policy.yaml")),
        }
    }

    fn of(workspace: Option<&Path>, embedded: bool) -> Self {
        match workspace {
            Some(folder) => WorkspaceSource::Folder(folder.to_owned()),
            None if !embedded && files::exists(Path::new("evals")) => WorkspaceSource::Folder("evals".into()),
            None if !embedded && is_workspace(Path::new(".")) => WorkspaceSource::Folder(".".into()),
            None => WorkspaceSource::Embedded,
        }
    }

    /// Returns the folder of the workspace, for paths in its files.
    pub(crate) fn absolute_folder(&self) -> Option<PathBuf> {
        match self {
            WorkspaceSource::Embedded => None,
            WorkspaceSource::Folder(folder) => Some(env::current_dir().join(folder)),
        }
    }

    pub(crate) fn label(&self) -> String {
        match self {
            WorkspaceSource::Embedded => "embedded".into(),
            WorkspaceSource::Folder(folder) => folder.display().to_string(),
        }
    }

    /// Returns the files of the workspace, with the defaults of the current folder if it has none of its own.
    pub(crate) fn files(&self) -> Result<WorkspaceFiles, Vec<Problem>> {
        let mut found = match self {
            WorkspaceSource::Embedded => EMBEDDED.iter().copied().collect(),
            WorkspaceSource::Folder(folder) => {
                if files::is_folder(folder) && !is_part_of_workspace(folder) {
                    let what = "not a workspace: it has neither gates.yaml nor tools/".to_owned();
                    let remedy = "name the folder of one, or write one with `bardo-eval init`".to_owned();
                    return Err(vec![Problem { at: Location::new(".", 0), what, remedy }]);
                }
                files::read_folder(folder)?
            }
        };
        if found.get(DEFAULTS_FILE).is_none() {
            let unreadable = |error: std::io::Error| {
                let at = Location::new(DEFAULTS_FILE, 0);
                vec![Problem { at, what: format!("cannot be read: {error}"), remedy: "check its permissions".to_owned() }]
            };
            if let Some(text) = files::read_if_exists(Path::new(DEFAULTS_FILE)).map_err(unreadable)? {
                found.insert(DEFAULTS_FILE, text);
            }
        }
        Ok(found)
    }

    /// Opens the workspace, with the probes that need no chain if it has no policy.
    pub(crate) fn open(&self, case_texts: CaseTexts) -> Result<Workspace, Vec<Problem>> {
        let mut workspace = Workspace::load_from(self.files()?, case_texts)?;
        attack::add_general_probes(&mut workspace);
        Ok(workspace)
    }
}
