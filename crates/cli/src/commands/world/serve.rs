//! `world serve`: a world for an agent or a person to use, until it is stopped.

use super::{chosen, foreign, kind};
use crate::args::ServeArgs;
use crate::exit::Exit;
use crate::files;
use crate::io::Io;
use crate::open::Source;
use model::suite::Surface;
use model::{Place, Spot, UserError, Workspace};
use std::sync::Arc;
use tokio::sync::Mutex;
use world::edges::Server;
use world::edges::Token;
use world::mcp::serve::{Seat, SharedWorld, WorldLock, WorldServer, on_streams};
use world::{ChainAccess, LiveWorld, Setup, Who, World, WorldTemplate};

pub(super) async fn serve(io: &Io, source: &Source, workspace: Arc<Workspace>, args: &ServeArgs) -> Result<Exit, UserError> {
    let name = chosen(&workspace, args.live.world.as_deref())?.name.value.clone();
    let seat = seat(&workspace, args)?;
    let foreign = foreign::of(source, &workspace, &args.live.foreign.foreign).await?;
    let template = WorldTemplate::new(workspace, &name, kind::of_world(&args.live.chain)?)?;
    let world =
        Arc::new(Mutex::new(LiveWorld::new(&template, Setup { defence: kind::defence(args.live.defence), foreign, ..Setup::default() })));
    let shared: SharedWorld = world.clone();
    if args.stdio {
        on_stdio(shared, seat).await?
    } else {
        on_port(io, shared, seat, &name, args.port).await?
    }
    if let Some(file) = &args.events {
        let events = World::take_events(&mut *world.lock().await);
        let lines: String = events.iter().filter_map(|event| serde_json::to_string(event).ok()).map(|line| line + "\n").collect();
        files::write(file, &lines).map_err(|error| UserError::caused_by(error).within(file.display()))?;
    }
    Ok(Exit::Clean)
}

async fn on_stdio(world: SharedWorld, seat: Seat) -> Result<(), UserError> {
    let server = WorldServer::new(WorldLock::new(world), seat).map_err(UserError::caused_by)?;
    on_streams(server, tokio::io::stdin(), tokio::io::stdout()).await.map_err(UserError::caused_by)
}

async fn on_port(io: &Io, world: SharedWorld, seat: Seat, name: &str, port: u16) -> Result<(), UserError> {
    let chains = ChainAccess::chain_ids(&*world.lock().await);
    let server = Server::open_on(port).await.map_err(UserError::caused_by)?;
    let token = Token::random().map_err(UserError::caused_by)?;
    let edges = server.admit("world", world, seat, token).map_err(UserError::caused_by)?;
    let mut text = format!("world {name}\n  MCP    {}  (Authorization: Bearer {})\n", edges.mcp_url(), edges.token.as_str());
    for chain in chains {
        text.push_str(&format!("  RPC    {}  (chain {chain})\n", edges.rpc_url(chain)));
    }
    text.push_str(&format!("  pages  {}\n", edges.pages_url()));
    io.result(&text, Exit::Clean);
    io.say("stop it with Ctrl-C");
    tokio::signal::ctrl_c().await.map_err(|error| UserError::caused_by(error).within("waiting for Ctrl-C"))
}

/// Whose tools are listed: those of an agent with its delegations, or of a profile with every skill.
fn seat(workspace: &Workspace, args: &ServeArgs) -> Result<Seat, UserError> {
    if let Some(name) = &args.agent {
        let agent = workspace
            .agent(name)
            .ok_or_else(|| UserError::unknown("agent", name, workspace.agents.iter().map(|agent| agent.name.as_str())))?;
        return Ok(Seat {
            who: Who::new(name, 0),
            tools: workspace.agent_tools(name).into_iter().map(model::Tool::listing).collect(),
            delegates: agent.delegates_to.iter().map(|to| to.value.clone()).collect(),
            skills: vec![],
        });
    }
    let name = args.profile.as_deref().unwrap_or("full");
    workspace
        .profile(name)
        .ok_or_else(|| UserError::unknown("profile", name, workspace.profiles.iter().map(|profile| profile.name.as_str())))?;
    let surface = Surface::Profile(Spot::new(name.to_owned(), Place::new("", 0)));
    Ok(Seat {
        who: Who::new("assistant", 0),
        tools: workspace.surface_tools(&surface).into_iter().map(model::Tool::listing).collect(),
        delegates: vec![],
        skills: workspace.skills.iter().map(|skill| (skill.name.value.clone(), skill.description.clone())).collect(),
    })
}
