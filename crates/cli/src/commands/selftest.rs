//! `selftest`: checks that every gate can fail, by the reference and seeded faults.

use crate::args::SelftestArgs;
use crate::commands::world::imported_tools::{ServerAccess, parse_tool_answers};
use crate::exit::ExitKind;
use crate::io::CliOutput;
use crate::workspace_source::WorkspaceSource;
use crate::{env, report};
use ::run::Clock;
use ::run::external::{AgentSandbox, HostEnvironment};
use campaign::{RunOptions, Selftest, SelftestMode, SelftestSetup, play_selftest};
use model::UserError;
use std::sync::Arc;

pub(crate) fn selftest(io: &CliOutput, source: &WorkspaceSource, args: &SelftestArgs) -> ExitKind {
    let workspace = match super::open_checked_workspace(io, source, "selftest") {
        Ok(workspace) => workspace,
        Err(exit) => return exit,
    };
    let mode = if args.quick { SelftestMode::Quick } else { SelftestMode::Full };
    let at_once = args.concurrency.and_then(|n| usize::try_from(n).ok()).unwrap_or(RunOptions::default().concurrency);
    let clock = Clock::system();
    let stopwatch = clock.stopwatch();
    let surroundings = HostEnvironment {
        variable: env::var,
        folder: env::current_dir(),
        workspace: source.absolute_folder(),
        sandbox: AgentSandbox::unconfined(),
        passed: vec![],
        own_program: env::own_program(),
    };
    let play = async {
        let foreign = parse_tool_answers(source, &workspace, &["auto".to_owned()], ServerAccess::default()).await?;
        Ok(play_selftest(Arc::new(workspace), SelftestSetup { mode, clock, surroundings, foreign, at_once }).await)
    };
    let played = match super::block_on(play).map_err(|error| UserError::without_remedy(error.to_string())).flatten() {
        Ok(played) => played,
        Err(error) => return report::print_error(io, "selftest", &error),
    };
    let found = Selftest::default().judge(&played);
    let exit = if found.problems.is_empty() { ExitKind::Clean } else { ExitKind::Missed };
    io.print_result(&report::selftest(io, &found, stopwatch.elapsed(), exit), exit)
}
