//! `world serve`: serves a world to an agent or a person until stopped.

use super::imported_tools::ServerAccess;
use super::{chain_kind, find_world, imported_tools};
use crate::args::{ReportFormat, ServeArgs};
use crate::exit::ExitKind;
use crate::files;
use crate::io::CliOutput;
use crate::report::FORMAT;
use crate::workspace_source::WorkspaceSource;
use model::suite::CaseSurface;
use model::view::AgentContext;
use model::{Event, Location, Spanned, UserError, Workspace};
use serde_json::{Map, Value, json};
use std::path::Path;
use std::sync::Arc;
use tokio::sync::Mutex;
use world::endpoints::{EndpointServer, TrialEndpoints, TrialToken};
use world::mcp::serve::{AgentToolset, SharedWorld, WorldLock, WorldServer, serve_streams};
use world::{ActingAgent, ChainAccess, LiveWorld, RandomOperator, WorldSettings, WorldTemplate};

pub(super) async fn serve(
    io: &CliOutput,
    source: &WorkspaceSource,
    workspace: Arc<Workspace>,
    args: &ServeArgs,
) -> Result<ExitKind, UserError> {
    let name = find_world(&workspace, args.live.world.as_deref())?.name.value.clone();
    let toolset = toolset(&workspace, args)?;
    let instructions = args.agent.as_ref().map(|agent| AgentContext::for_agent(&workspace, agent).instructions());
    let access = ServerAccess::of_args(&args.live.foreign);
    let foreign = imported_tools::parse_tool_answers(source, &workspace, &args.live.foreign.foreign, access).await?;
    // The agent is outside of this process, so it must not know the operator's key.
    let operator = RandomOperator::new().map_err(UserError::caused_by)?;
    let template = WorldTemplate::with_visible_operator(&workspace, &name, &operator, chain_kind::parse_chain_kind(&args.live.chain)?)?;
    let settings = WorldSettings { defence: chain_kind::defence_mode(args.live.defence), foreign, ..WorldSettings::default() };
    let mut world = LiveWorld::new(&template, settings);
    if let Some(file) = &args.events {
        world.set_listener(event_writer(file)?);
    }
    let shared: SharedWorld = Arc::new(Mutex::new(world));
    if args.stdio {
        serve_stdio(shared, toolset, instructions).await?
    } else {
        serve_http(io, shared, toolset, instructions, (&name, args.port)).await?
    }
    Ok(ExitKind::Clean)
}

/// Listener that writes events.
type EventWriter = Box<dyn FnMut(&Event) + Send>;

/// Returns a listener that appends each event to a new file as it happens, so that the file is complete however this process ends.
fn event_writer(path: &Path) -> Result<EventWriter, UserError> {
    let mut lines = files::create_lines(path).map_err(|error| UserError::caused_by(error).with_context(path.display()))?;
    Ok(Box::new(move |event| {
        // A full disk must not end the service.
        if let Ok(line) = serde_json::to_string(event) {
            let _ = lines.append(&line);
        }
    }))
}

async fn serve_stdio(world: SharedWorld, toolset: AgentToolset, instructions: Option<String>) -> Result<(), UserError> {
    let server = WorldServer::new(WorldLock::new(world), toolset, instructions).map_err(UserError::caused_by)?;
    // A signal ends the service like the end of input does, so that the events are written.
    tokio::select! {
        served = serve_streams(server, tokio::io::stdin(), tokio::io::stdout()) => served.map_err(UserError::caused_by),
        stopped = crate::signals::stop_requested() => stopped.map_err(UserError::caused_by),
    }
}

async fn serve_http(
    io: &CliOutput,
    world: SharedWorld,
    toolset: AgentToolset,
    instructions: Option<String>,
    (name, port): (&str, u16),
) -> Result<(), UserError> {
    let chains = ChainAccess::chain_ids(&*world.lock().await);
    let server = EndpointServer::open_on(port).await.map_err(UserError::caused_by)?;
    let token = TrialToken::random().map_err(UserError::caused_by)?;
    let endpoints = server.add_trial("world", world, toolset, instructions, token).map_err(UserError::caused_by)?;
    let text = match io.format {
        ReportFormat::Json => format!("{:#}\n", as_json(name, &endpoints, &chains)),
        ReportFormat::Text | ReportFormat::Junit | ReportFormat::Markdown | ReportFormat::Github | ReportFormat::Sarif => {
            as_text(name, &endpoints, &chains)
        }
    };
    let stopped = crate::signals::stop_requested();
    io.print_result(&text, ExitKind::Clean);
    io.print_message("press Ctrl-C to stop");
    stopped.await.map_err(|error| UserError::caused_by(error).with_context("waiting for a signal"))
}

fn as_text(name: &str, endpoints: &TrialEndpoints, chains: &[u64]) -> String {
    let mut text = format!("world {name}\n  MCP    {}  (Authorization: Bearer {})\n", endpoints.mcp_url(), endpoints.token.as_str());
    for chain in chains {
        text.push_str(&format!("  RPC    {}  (chain {chain})\n", endpoints.rpc_url(*chain)));
    }
    text.push_str(&format!("  pages  {}\n", endpoints.pages_url()));
    text
}

fn as_json(name: &str, endpoints: &TrialEndpoints, chains: &[u64]) -> Value {
    let rpc: Map<String, Value> = chains.iter().map(|chain| (chain.to_string(), endpoints.rpc_url(*chain).into())).collect();
    json!({
        "format": FORMAT, "command": "world serve", "world": name, "token": endpoints.token.as_str(), "mcp": endpoints.mcp_url(), "rpc": rpc,
        "pages": endpoints.pages_url(),
    })
}

/// Returns the tools to serve: those of an agent with its delegations, or of a profile with every skill.
fn toolset(workspace: &Workspace, args: &ServeArgs) -> Result<AgentToolset, UserError> {
    if let Some(name) = &args.agent {
        let agent = workspace
            .agent(name)
            .ok_or_else(|| UserError::unknown("agent", name, workspace.agents.iter().map(|agent| agent.name.as_str())))?;
        return Ok(AgentToolset {
            agent: ActingAgent::new(name, 0),
            tools: workspace.agent_tools(name).into_iter().map(model::Tool::listing).collect(),
            delegates: agent.delegates_to.iter().map(|to| to.value.clone()).collect(),
            skills: vec![],
        });
    }
    let name = args.profile.as_deref().unwrap_or("full");
    workspace
        .profile(name)
        .ok_or_else(|| UserError::unknown("profile", name, workspace.profiles.iter().map(|profile| profile.name.as_str())))?;
    let surface = CaseSurface::Profile(Spanned::new(name.to_owned(), Location::new("", 0)));
    Ok(AgentToolset {
        agent: ActingAgent::new("assistant", 0),
        tools: workspace.surface_tools(&surface).into_iter().map(model::Tool::listing).collect(),
        delegates: vec![],
        skills: workspace.skills.iter().map(model::Skill::listing).collect(),
    })
}
