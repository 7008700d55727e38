//! Continuous integration: which tiers an event runs, and a workflow that runs them.

mod github;
mod plan;

use crate::args::CiCommand;
use crate::exit::Exit;
use crate::io::Io;
use crate::open::Source;

pub(crate) fn ci(io: &Io, source: &Source, command: &CiCommand) -> Exit {
    match command {
        CiCommand::Plan(args) => plan::plan(io, source, args),
        CiCommand::Github(args) => github::github(io, source, args),
    }
}
