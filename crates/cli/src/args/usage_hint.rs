//! Hints for mistakes that the argument parser cannot explain.

use crate::shell::shell_quoted;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Returns a hint for a word that is not an argument, but a workspace or the name of a case, or for flags beside `--resume`.
pub(crate) fn usage_hint(error: &clap::Error, is_workspace: impl Fn(&str) -> bool) -> Option<String> {
    if error.kind() == ErrorKind::ArgumentConflict {
        return resume_hint(error);
    }
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidArg) else { return None };
    // Other commands have no such flags.
    let is_run = error.to_string().contains("Usage: bardo-eval run");
    if word.starts_with('-') {
        let is_tool = is_run && (word == "--tool" || word.starts_with("--tool="));
        return is_tool.then(|| "hint: `bardo-eval list cases --tool NAME` lists the cases of a tool; run them with --case ID".to_owned());
    }
    let quoted = shell_quoted(word);
    if is_workspace(word) {
        return Some(format!("hint: use --workspace {quoted} for the workspace in that folder"));
    }
    is_run.then(|| format!("hint: use --case {quoted} for a case, --suite {quoted} for a suite, --workspace {quoted} for a folder"))
}

/// Returns the flag to drop beside `--resume`: a run is resumed as it was started.
fn resume_hint(error: &clap::Error) -> Option<String> {
    let names = |kind| match error.get(kind) {
        Some(ContextValue::String(one)) => vec![one.clone()],
        Some(ContextValue::Strings(several)) => several.clone(),
        Some(_) | None => vec![],
    };
    let flags: Vec<String> = [names(ContextKind::InvalidArg), names(ContextKind::PriorArg)].concat();
    let flags: Vec<&str> = flags.iter().filter_map(|flag| flag.split_whitespace().next()).collect();
    let (resume, others): (Vec<&str>, Vec<&str>) = flags.into_iter().partition(|flag| *flag == "--resume");
    (!resume.is_empty() && !others.is_empty()).then(|| {
        format!("hint: drop {}; the run is resumed as it was started, and only --budget and --concurrency may change", others.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Arg, Command};

    #[test]
    fn flags_beside_resume_are_to_be_dropped() {
        let command = Command::new("run")
            .arg(Arg::new("subject").long("subject").num_args(1))
            .arg(Arg::new("case").long("case").num_args(1))
            .arg(Arg::new("resume").long("resume").num_args(0..=1).conflicts_with_all(["subject", "case"]));
        let hint = |args: &[&str]| usage_hint(&command.clone().try_get_matches_from(args).unwrap_err(), |_| false);
        assert!(hint(&["run", "--subject", "x", "--resume"]).is_some_and(|hint| hint.starts_with("hint: drop --subject;")));
        assert!(hint(&["run", "--resume", "--subject", "x"]).is_some_and(|hint| hint.starts_with("hint: drop --subject;")));
    }
}
