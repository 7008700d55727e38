//! The one place that reads the environment. Keys are read for the run that needs them and handed on without being shown.

#![expect(clippy::disallowed_methods, reason = "this is the place that reads the environment")]

use std::path::PathBuf;

/// The value of a variable.
pub(crate) fn var(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Whether a variable is set and not empty; its value stays where it is.
pub(crate) fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| !value.is_empty())
}

/// Where we were started; relative paths are meant from here.
pub(crate) fn current_dir() -> PathBuf {
    std::env::current_dir().unwrap_or_default()
}

/// Where a program would be started from.
pub(crate) fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|candidate| candidate.is_file())
}

/// What a started server may see: PATH and HOME, and what the user named.
pub(crate) fn child_env(pass: &[String]) -> Vec<(String, String)> {
    ["PATH", "HOME"]
        .into_iter()
        .chain(pass.iter().map(String::as_str))
        .filter_map(|name| var(name).map(|value| (name.to_owned(), value)))
        .collect()
}
