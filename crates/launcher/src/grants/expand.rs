//! Folders without what is withheld: rules can only add, so a folder that holds something withheld is granted entry by entry.

#![expect(clippy::disallowed_methods, reason = "the entries of a folder are granted one by one")]

use crate::FileGrants;
use std::fs;
use std::path::{Path, PathBuf};

/// Returns the paths to grant for `read`.
pub(crate) fn granted_paths(grants: &FileGrants) -> Vec<PathBuf> {
    let mut granted = vec![];
    for path in &grants.read {
        // Missing paths are left out: most machines have only some of the system's folders.
        if let Ok(path) = path.canonicalize() {
            add(&path, &grants.withheld, &mut granted);
        }
    }
    granted.sort();
    granted.dedup();
    granted
}

fn add(path: &Path, withheld: &[PathBuf], granted: &mut Vec<PathBuf>) {
    if withheld.iter().any(|held| path.starts_with(held)) {
        return;
    }
    if !withheld.iter().any(|held| held.starts_with(path)) {
        granted.push(path.to_owned());
        return;
    }
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        // A link would be granted as what it points to.
        if entry.file_type().is_ok_and(|kind| !kind.is_symlink()) {
            add(&entry.path(), withheld, granted);
        }
    }
}
