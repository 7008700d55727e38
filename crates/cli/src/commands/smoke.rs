//! `smoke`: the checks of tier 1.

use crate::args::SmokeArgs;
use crate::exit::ExitKind;
use crate::files;
use crate::io::CliOutput;
use crate::report;
use crate::workspace_source::WorkspaceSource;
use model::Workspace;
use score::checks::{self, CheckResult};
use std::path::Path;

pub(crate) fn smoke(io: &CliOutput, source: &WorkspaceSource, args: &SmokeArgs) -> ExitKind {
    let workspace = match super::open_workspace(io, source, "smoke") {
        Ok(workspace) => workspace,
        Err(exit) => return exit,
    };
    let mut results = checks::run_all(&workspace, args.seed);
    add_missing_scripts(source, &workspace, &mut results);
    let failed = results.iter().any(|result| result.errors() > 0);
    let exit = if failed { ExitKind::Missed } else { ExitKind::Clean };
    io.print_result(&report::smoke(io, source, &workspace, &results, exit), exit)
}

/// Check that is about the scorers of the workspace.
const SCORERS_CHECK: &str = "gates_measured";

/// Adds an error for each file that the command of a scorer names and the workspace does not have.
fn add_missing_scripts(source: &WorkspaceSource, workspace: &Workspace, results: &mut [CheckResult]) {
    let (Some(folder), Some(result)) = (source.absolute_folder(), results.iter_mut().find(|result| result.check == SCORERS_CHECK)) else {
        return;
    };
    for scorer in &workspace.scorers {
        // A run also takes a path from the current folder.
        let exists = |path: &str| files::exists(&folder.join(path)) || files::exists(Path::new(path));
        for path in named_files(&scorer.command).filter(|path| !exists(path)) {
            let what = format!("scorer {} runs {path}, which does not exist in the workspace", *scorer.id);
            result.add_error(&scorer.at, what, "add the file, or correct its path, which starts from the workspace".to_owned());
        }
    }
}

/// Endings of scripts.
const SCRIPTS: [&str; 9] = [".py", ".js", ".mjs", ".cjs", ".ts", ".sh", ".rb", ".pl", ".jar"];

/// Returns the words of a command that name a file below its folder. A program without a slash is one of PATH.
fn named_files(command: &[String]) -> impl Iterator<Item = &str> {
    let is_script = |word: &str| SCRIPTS.iter().any(|end| word.ends_with(end));
    let named = command.iter().enumerate().filter(move |(n, word)| if *n == 0 { word.contains('/') } else { is_script(word) });
    named.map(|(_, word)| word.as_str()).filter(|word| !word.starts_with(['/', '-', '~']) && !word.contains("://"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_of_a_command_are_its_relative_files() {
        let named = |command: &[&str]| {
            let words: Vec<String> = command.iter().map(|word| (*word).to_owned()).collect();
            named_files(&words).map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(named(&["python3", "scorers/tone.py", "--words", "60"]), ["scorers/tone.py"]);
        assert_eq!(named(&["./scorers/tone", "--format", "text/plain"]), ["./scorers/tone"]);
        assert_eq!(named(&["uvx", "tone"]), [""; 0]);
        assert_eq!(named(&["python3", "-c", "import a", "/opt/tone.py"]), [""; 0]);
    }
}
