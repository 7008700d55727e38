//! `smoke`: the checks of tier 1.

use crate::args::SmokeArgs;
use crate::exit::ExitKind;
use crate::io::CliOutput;
use crate::report;
use crate::workspace_source::WorkspaceSource;
use score::checks;

pub(crate) fn smoke(io: &CliOutput, source: &WorkspaceSource, args: &SmokeArgs) -> ExitKind {
    let workspace = match super::open_workspace(io, source, "smoke") {
        Ok(workspace) => workspace,
        Err(exit) => return exit,
    };
    let results = checks::run_all(&workspace, args.seed);
    let failed = results.iter().any(|result| result.errors() > 0);
    let exit = if failed { ExitKind::Missed } else { ExitKind::Clean };
    io.print_result(&report::smoke(io, source, &workspace, &results, exit), exit)
}
