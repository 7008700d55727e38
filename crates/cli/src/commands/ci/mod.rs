//! `ci`: tiers of an event, and a workflow that runs them.

mod github;
mod plan;

use crate::args::CiCommand;
use crate::exit::ExitKind;
use crate::io::CliOutput;
use crate::workspace_source::WorkspaceSource;

pub(crate) fn ci(io: &CliOutput, source: &WorkspaceSource, command: &CiCommand) -> ExitKind {
    match command {
        CiCommand::Plan(args) => plan::plan(io, source, args),
        CiCommand::Github(args) => github::github(io, source, args),
    }
}
