//! `world`: inspects the chains of a world and acts on them.

mod call;
pub(super) mod chain_kind;
mod effects;
pub(super) mod imported_tools;
mod live_servers;
mod redacted_source;
mod send;
mod serve;
mod show;

use crate::args::WorldCommand;
use crate::exit::ExitKind;
use crate::io::CliOutput;
use crate::report;
use crate::workspace_source::WorkspaceSource;
use model::{UserError, Workspace, WorldFile};
use std::sync::Arc;

pub(crate) fn world(io: &CliOutput, source: &WorkspaceSource, command: &WorldCommand) -> ExitKind {
    let workspace = match super::open_workspace(io, source, "world") {
        Ok(workspace) => workspace,
        Err(exit) => return exit,
    };
    let done = super::block_on_with_stdin(async {
        match command {
            WorldCommand::Show(args) => show::show(io, &workspace, args).await,
            WorldCommand::Send(args) => send::send(io, &workspace, args).await,
            WorldCommand::Call(args) => call::call(io, source, Arc::new(workspace), args).await,
            WorldCommand::Serve(args) => serve::serve(io, source, Arc::new(workspace), args).await,
        }
    });
    match done {
        Ok(Ok(exit)) => exit,
        Ok(Err(why)) => report::print_error(io, "world", &why),
        Err(error) => {
            io.print_message(&format!("cannot start the async runtime: {error}"));
            ExitKind::Incomplete
        }
    }
}

/// Returns the named world, or the default or first one.
fn find_world<'w>(workspace: &'w Workspace, name: Option<&str>) -> Result<&'w WorldFile, UserError> {
    match name {
        None => workspace
            .worlds
            .iter()
            .find(|world| world.is_default)
            .or(workspace.worlds.first())
            .ok_or_else(|| UserError::without_remedy("the workspace has no world")),
        Some(name) => {
            workspace.world(name).ok_or_else(|| UserError::unknown("world", name, workspace.worlds.iter().map(|world| world.name.as_str())))
        }
    }
}

/// Returns the id of the named chain, or all chain ids of the world.
fn chain_ids(workspace: &Workspace, world: &WorldFile, on: Option<&str>) -> Result<Vec<u64>, UserError> {
    match on {
        None => Ok(world.chains.clone()),
        Some(name) => {
            let id = workspace.chain(name).map(|chain| chain.id).filter(|id| world.chains.contains(id));
            id.map(|id| vec![id]).ok_or_else(|| UserError::without_remedy(format!("world {} has no chain \"{name}\"", world.name.value)))
        }
    }
}

/// Opens every chain of the first world on the embedded backend, and returns the name of the world.
pub(super) async fn check_embedded_chains(workspace: &Workspace) -> Result<String, UserError> {
    let world = find_world(workspace, None)?;
    for id in &world.chains {
        chain_kind::open_chain("embedded", &::world::chain::genesis::Genesis::from_world(workspace, world, *id)?).await?;
    }
    Ok(world.name.value.clone())
}
