//! State of the workspace of each run, kept beside the store: hashes of its parts, one file per state.

use crate::files;
use crate::workspace_source::WorkspaceSource;
use model::{ContentHash, UserError, Workspace};
use score::workspace_changes::WorkspaceFingerprint;
use std::path::{Path, PathBuf};
use store::StoreLocation;

fn fingerprint_path(store: &StoreLocation, workspace: &ContentHash) -> PathBuf {
    store.folder().join("workspaces").join(format!("{}.json", workspace.short()))
}

/// Returns the state of the workspace now.
pub(super) fn current_fingerprint(source: &WorkspaceSource, workspace: &Workspace) -> Result<WorkspaceFingerprint, Vec<UserError>> {
    let files = match source {
        // Cases have their hashes, and the texts of suites are most of a large workspace.
        WorkspaceSource::Folder(folder) => files::read_folder_without(folder, &["suites"]),
        WorkspaceSource::Embedded => source.files(),
    };
    let files = files.map_err(|problems| problems.into_iter().map(UserError::from).collect::<Vec<_>>())?;
    Ok(WorkspaceFingerprint::of(workspace, &files))
}

/// Keeps the state of the workspace for later runs with `--changed`. Without it only that option does not work.
pub(super) fn save_fingerprint(store: &StoreLocation, source: &WorkspaceSource, workspace: &Workspace) {
    let path = fingerprint_path(store, &workspace.hash);
    if files::exists(&path) {
        return;
    }
    if let Ok(fingerprint) = current_fingerprint(source, workspace) {
        let folder = path.parent().unwrap_or(Path::new("."));
        let text = serde_json::to_string(&fingerprint).unwrap_or_default();
        drop(files::create_folder(folder).and_then(|()| files::write(&path, &format!("{text}\n"))));
    }
}

/// Returns the state of the workspace that a run was planned from.
pub(super) fn load_fingerprint(store: &StoreLocation, workspace: &ContentHash) -> Result<WorkspaceFingerprint, UserError> {
    let path = fingerprint_path(store, workspace);
    let unknown = || {
        let what = format!("the workspace of that run is not known: {} is missing or unreadable", path.display());
        UserError::new(what, "name a git revision, as in --changed HEAD")
    };
    let text = files::read_file(&path).map_err(|_| unknown())?;
    serde_json::from_str(&text).map_err(|_| unknown())
}
