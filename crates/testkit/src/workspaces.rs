//! The reference workspace and the minimal one, each read and parsed once per test binary.

use model::{MINIMAL_WORKSPACE, Workspace, WorkspaceFiles};
use std::path::Path;
use std::sync::{Arc, LazyLock};

static REFERENCE_FILES: LazyLock<WorkspaceFiles> = LazyLock::new(|| {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../evals"));
    let mut files = WorkspaceFiles::default();
    read_folder(root, root, &mut files);
    files
});
static REFERENCE: LazyLock<Arc<Workspace>> = LazyLock::new(|| load_workspace(reference_files()));
static MINIMAL: LazyLock<Arc<Workspace>> = LazyLock::new(|| load_workspace(&minimal_files()));

/// Returns the files of the reference workspace, `evals/`.
pub fn reference_files() -> &'static WorkspaceFiles {
    &REFERENCE_FILES
}

/// Returns the reference workspace.
pub fn reference_workspace() -> Arc<Workspace> {
    REFERENCE.clone()
}

/// Returns the files of the minimal workspace, as `init --minimal` writes them.
pub fn minimal_files() -> WorkspaceFiles {
    MINIMAL_WORKSPACE.iter().copied().collect()
}

/// Returns the minimal workspace.
pub fn minimal_workspace() -> Arc<Workspace> {
    MINIMAL.clone()
}

/// Parses a workspace.
///
/// # Panics
/// If it has problems; all of them are listed.
pub fn load_workspace(files: &WorkspaceFiles) -> Arc<Workspace> {
    Arc::new(Workspace::load(files).unwrap_or_else(|problems| panic!("{problems:#?}")))
}

#[expect(clippy::disallowed_methods, reason = "tests read the files of the repository")]
fn read_folder(root: &Path, folder: &Path, files: &mut WorkspaceFiles) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            read_folder(root, &path, files);
        } else {
            let name = path.strip_prefix(root).expect("below the root").to_string_lossy().replace('\\', "/");
            files.insert(name, std::fs::read_to_string(&path).expect("text"));
        }
    }
}
