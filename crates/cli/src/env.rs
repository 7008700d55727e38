//! Environment variables and search path. The only module of the crate that reads them; values of keys are never printed.

#![expect(clippy::disallowed_methods, reason = "only this module reads the environment")]

use model::UserError;
use std::path::PathBuf;

/// Returns the value of a variable; `None` if it is unset or empty.
pub(crate) fn var(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Returns true if a variable is set and not empty.
pub(crate) fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| !value.is_empty())
}

/// Returns the working directory, which relative paths start from.
pub(crate) fn current_dir() -> PathBuf {
    std::env::current_dir().unwrap_or_default()
}

/// Finds a program in the search path.
pub(crate) fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|candidate| candidate.is_file())
}

/// Returns true if this process is to launch a program instead of evaluating.
#[cfg(target_os = "linux")]
pub(crate) fn is_launcher() -> bool {
    std::env::args_os().nth(1).is_some_and(|word| word == launcher::LAUNCHER_ARGUMENT)
}

/// Returns true if this process is to run scripts of others.
pub(crate) fn is_script_host() -> bool {
    std::env::args_os().nth(1).is_some_and(|word| word == script::SCRIPT_ARGUMENT)
}

/// Returns the file of this program.
pub(crate) fn own_program() -> Option<PathBuf> {
    std::env::current_exe().ok()
}

/// Refuses variables of `--pass-env` that are not set.
pub(crate) fn check_passed(names: &[String]) -> Result<(), UserError> {
    let unset: Vec<&str> = names.iter().map(String::as_str).filter(|name| !is_set(name)).collect();
    if unset.is_empty() {
        return Ok(());
    }
    let what = format!("--pass-env names {}, which the environment does not have", unset.join(", "));
    Err(UserError::new(what, "export it before the command, or check the name"))
}

/// Returns the environment of a child process: PATH, HOME and the variables named in `pass`.
pub(crate) fn child_env(pass: &[String]) -> Vec<(String, String)> {
    ["PATH", "HOME"]
        .into_iter()
        .chain(pass.iter().map(String::as_str))
        .filter_map(|name| var(name).map(|value| (name.to_owned(), value)))
        .collect()
}
