//! The reference workspace, read from the repository, for tests.

use model::{Files, Workspace};
use std::path::Path;
use std::sync::{Arc, LazyLock};

static WORKSPACE: LazyLock<Arc<Workspace>> =
    LazyLock::new(|| Arc::new(Workspace::load(&files()).unwrap_or_else(|problems| panic!("{problems:#?}"))));

pub(super) fn reference() -> Arc<Workspace> {
    WORKSPACE.clone()
}

#[expect(clippy::disallowed_methods, reason = "a test reads the files it is about")]
fn files() -> Files {
    fn walk(root: &Path, folder: &Path, files: &mut Files) {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                walk(root, &path, files);
            } else {
                let name = path.strip_prefix(root).expect("below the root").to_string_lossy().into_owned();
                files.insert(name, std::fs::read_to_string(&path).expect("text"));
            }
        }
    }
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../evals"));
    let mut files = Files::default();
    walk(root, root, &mut files);
    files
}
