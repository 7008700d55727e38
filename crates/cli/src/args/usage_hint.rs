//! Hints for mistakes that the argument parser cannot explain.

use crate::shell::shell_quoted;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Returns a hint for a word that is not an argument, but a workspace or the name of a case.
pub(crate) fn usage_hint(error: &clap::Error, is_workspace: impl Fn(&str) -> bool) -> Option<String> {
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidArg) else { return None };
    if word.starts_with('-') {
        return None;
    }
    let quoted = shell_quoted(word);
    if is_workspace(word) {
        return Some(format!("hint: use --workspace {quoted} for the workspace in that folder"));
    }
    // Other commands have no such flags.
    let is_run = error.to_string().contains("Usage: bardo-eval run");
    is_run.then(|| format!("hint: use --case {quoted} for a case, --suite {quoted} for a suite, --workspace {quoted} for a folder"))
}
