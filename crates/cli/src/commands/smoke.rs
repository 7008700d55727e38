//! `smoke`: the checks of tier 1.

use super::command_files::named_files;
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
    report::print_smoke(io, source, &workspace, &results, exit)
}

/// Check that is about the scorers of the workspace.
const SCORERS_CHECK: &str = "gates_measured";

/// Adds a warning for each file that the command of a scorer names and the workspace does not have. It may be there only where the run is.
fn add_missing_scripts(source: &WorkspaceSource, workspace: &Workspace, results: &mut [CheckResult]) {
    let (Some(folder), Some(result)) = (source.absolute_folder(), results.iter_mut().find(|result| result.check == SCORERS_CHECK)) else {
        return;
    };
    let waivers = checks::waivers_of(workspace, SCORERS_CHECK);
    for scorer in &workspace.scorers {
        // A run also takes a path from the current folder.
        let exists = |path: &str| files::exists(&folder.join(path)) || files::exists(Path::new(path));
        let relative = named_files(&scorer.command).filter(|path| !path.starts_with(['/', '~']));
        for path in relative.filter(|path| !exists(path)) {
            let what = format!("scorer {} runs {path}, which does not exist in the workspace", *scorer.id);
            let remedy = "add the file, or correct its path, which starts from the workspace";
            result.add_warning(&waivers, &scorer.at, what, remedy.to_owned());
        }
    }
}
