//! Package of a script: the folder with its manifest, its dependencies, and nothing that is withheld.

#![expect(clippy::disallowed_methods, reason = "a package that holds the workspace is granted entry by entry")]

use super::breadth::TooBroad;
use super::system::is_system;
use crate::FileGrants;
use std::fs;
use std::path::{Path, PathBuf};

const MANIFESTS: &[&str] =
    &["package.json", "pyproject.toml", "setup.py", "requirements.txt", "deno.json", "go.mod", "Cargo.toml", "Gemfile"];
/// Dependencies that may be a link to another folder.
const DEPENDENCIES: &[&str] = &["node_modules", ".venv", "venv"];
/// The history holds earlier versions of what is withheld.
const HISTORY: &str = ".git";

/// Adds the package of a script: the nearest folder with a manifest, else the folder of the script.
pub(super) fn add_package(grants: &mut FileGrants, script: &Path, broad: TooBroad<'_>) {
    grants.files.push(script.to_owned());
    let Ok(script) = script.canonicalize() else { return };
    let Some(own) = script.parent().filter(|folder| !is_system(folder) && !broad.holds(folder)) else { return };
    let manifest = |folder: &&Path| MANIFESTS.iter().any(|name| folder.join(name).is_file());
    let root = own.ancestors().take_while(|folder| !broad.holds(folder)).find(manifest).unwrap_or(own);
    add_folder(grants, root);
    for folder in own.ancestors() {
        let dependencies = DEPENDENCIES.iter().filter_map(|name| folder.join(name).canonicalize().ok());
        grants.read.extend(dependencies.filter(|path| path.is_dir()));
    }
}

/// Adds a folder. If something in it is withheld, its entries are added one by one.
pub(super) fn add_folder(grants: &mut FileGrants, folder: &Path) {
    let Ok(folder) = folder.canonicalize() else { return };
    let holds_withheld = |path: &Path| grants.withheld.iter().any(|held| held.starts_with(path));
    let is_withheld = grants.withheld.iter().any(|held| folder.starts_with(held));
    if is_withheld {
        return;
    }
    if !holds_withheld(&folder) && !folder.join(HISTORY).exists() {
        grants.read.push(folder);
        return;
    }
    let entries = fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let granted: Vec<PathBuf> = entries.filter(|path| !holds_withheld(path) && !path.ends_with(HISTORY)).collect();
    grants.read.extend(granted);
    grants.list.push(folder);
}
