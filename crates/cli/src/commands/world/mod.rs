//! Looking at a world's chains, and acting on them.

mod call;
mod effects;
pub(super) mod foreign;
pub(super) mod kind;
mod send;
mod serve;
mod show;

use crate::args::WorldCommand;
use crate::exit::Exit;
use crate::io::Io;
use crate::open::Source;
use crate::report;
use model::{UserError, Workspace, WorldFile};
use std::sync::Arc;

pub(crate) fn world(io: &Io, source: &Source, command: &WorldCommand) -> Exit {
    let workspace = match super::open(io, source, "world") {
        Ok(workspace) => workspace,
        Err(exit) => return exit,
    };
    let done = super::block_on(async {
        match command {
            WorldCommand::Show(args) => show::show(io, &workspace, args).await,
            WorldCommand::Send(args) => send::send(io, &workspace, args).await,
            WorldCommand::Call(args) => call::call(io, source, Arc::new(workspace), args).await,
            WorldCommand::Serve(args) => serve::serve(io, source, Arc::new(workspace), args).await,
        }
    });
    match done {
        Ok(Ok(exit)) => exit,
        Ok(Err(why)) => report::complained(io, "world", &why),
        Err(error) => {
            io.say(&format!("no runtime: {error}"));
            Exit::Incomplete
        }
    }
}

/// The world a person named, or the first.
fn chosen<'w>(workspace: &'w Workspace, name: Option<&str>) -> Result<&'w WorldFile, UserError> {
    match name {
        None => workspace.worlds.first().ok_or_else(|| UserError::plain("the workspace has no world")),
        Some(name) => {
            workspace.world(name).ok_or_else(|| UserError::unknown("world", name, workspace.worlds.iter().map(|world| world.name.as_str())))
        }
    }
}

/// The chain ids a person named, or all of the world.
fn chains(workspace: &Workspace, world: &WorldFile, on: Option<&str>) -> Result<Vec<u64>, UserError> {
    match on {
        None => Ok(world.chains.clone()),
        Some(name) => {
            let id = workspace.chain(name).map(|chain| chain.id).filter(|id| world.chains.contains(id));
            id.map(|id| vec![id]).ok_or_else(|| UserError::plain(format!("world {} has no chain \"{name}\"", world.name.value)))
        }
    }
}
