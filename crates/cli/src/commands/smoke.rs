//! Tier 1.

use crate::args::SmokeArgs;
use crate::exit::Exit;
use crate::io::Io;
use crate::open::Source;
use crate::report;
use score::checks;

pub(crate) fn smoke(io: &Io, source: &Source, args: &SmokeArgs) -> Exit {
    let workspace = match super::open(io, source, "smoke") {
        Ok(workspace) => workspace,
        Err(exit) => return exit,
    };
    let results = checks::smoke(&workspace, args.seed);
    let failed = results.iter().any(|result| result.errors() > 0);
    let exit = if failed { Exit::Missed } else { Exit::Clean };
    io.result(&report::smoke(io, source, &workspace, &results, exit), exit)
}
