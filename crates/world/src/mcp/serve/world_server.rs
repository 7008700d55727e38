//! MCP server for one seat of one trial, acting in the world itself.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::transcript::{ReviewDecision, ToolAnswer, ToolErrorCode};
use model::{EventKind, ToolListing};
use rmcp::model::{CallToolRequestParams, CallToolResponse, ListToolsResult, PaginatedRequestParams, ServerConfig};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Map, Value, json};

use super::agent_toolset::AgentToolset;
use super::move_outcome::{MoveOutcome, trial_over_error};
use super::move_tools::{self, MoveKind};
use super::world_lock::WorldLock;
use crate::ChainAccess;
use crate::mcp::error::McpError;
use crate::mcp::printable::printable;
use crate::mcp::server::{McpReply, check_listings, server_config, to_mcp_tool};

/// Cheap to clone, one clone per connection; all clones act in the same world.
#[derive(Debug, Clone)]
pub struct WorldServer {
    inner: Arc<WorldServerInner>,
}

#[derive(Debug)]
struct WorldServerInner {
    world: WorldLock,
    toolset: AgentToolset,
    move_tools: Vec<ToolListing>,
    move_kinds: BTreeMap<String, MoveKind>,
}

impl WorldServer {
    /// Names must differ, also from those of the extra tools, and schemas be objects.
    pub fn new(world: WorldLock, seat: AgentToolset) -> Result<Self, McpError> {
        let extras = move_tools::for_toolset(&seat);
        check_listings(seat.tools.iter().chain(extras.iter().map(|(listing, _)| listing)))?;
        let mut deeds: BTreeMap<String, MoveKind> = seat.tools.iter().map(|listing| (listing.name.clone(), MoveKind::Call)).collect();
        deeds.extend(extras.iter().map(|(listing, deed)| (listing.name.clone(), deed.clone())));
        let extras = extras.into_iter().map(|(listing, _)| listing).collect();
        Ok(Self { inner: Arc::new(WorldServerInner { world, toolset: seat, move_tools: extras, move_kinds: deeds }) })
    }
}

impl WorldServerInner {
    /// Asked of the world every time: what it adds to a description may change, and a second look is a second reading.
    async fn list(&self) -> Result<ListToolsResult, ErrorData> {
        let mut world = self.world.lock().await.ok_or_else(trial_over_error)?;
        let listings = world.annotate_tools(&self.toolset.who, self.toolset.tools.clone());
        drop(world);
        // One page: agents in the wild often forget to ask for the next.
        let tools = listings.into_iter().chain(self.move_tools.iter().cloned()).filter_map(to_mcp_tool).collect();
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn handle_call(&self, name: &str, args: Map<String, Value>) -> Result<MoveOutcome, ErrorData> {
        let mut world = self.world.lock().await.ok_or_else(trial_over_error)?;
        let reply = self.run_move(&mut *world, name, args).await?;
        let letters = world.take_messages(&self.toolset.who);
        Ok(MoveOutcome { reply, messages: letters.iter().map(|letter| MoveOutcome::message_text(&letter.from, &letter.text)).collect() })
    }

    async fn run_move(&self, world: &mut dyn ChainAccess, name: &str, args: Map<String, Value>) -> Result<McpReply, ErrorData> {
        // Whoever acts has thought about it; a finished agent tells us of its moves only by making them.
        world.think();
        match self.move_kinds.get(name) {
            None => Err(self.unknown(world, name, args)),
            Some(MoveKind::Call) => Ok(self.call(world, name, args).await),
            Some(MoveKind::Delegate { to }) => Ok(self.delegate(world, to, args).await),
            Some(MoveKind::UseSkill) => Ok(self.record_move(world, move_tools::parse_skill(&self.toolset, &args), |(skill, params)| {
                (json!({ "activated": skill }), EventKind::Activated { skill, params })
            })),
            // Only listed where somebody is there to answer.
            Some(MoveKind::Ask | MoveKind::Refuse) => Err(trial_over_error()),
            Some(MoveKind::Report) => {
                Ok(self
                    .record_move(world, move_tools::parse_text(&args), |text| (json!({ "reported": true }), EventKind::Reported { text })))
            }
        }
    }

    /// Reaching for a tool that is not there is evidence, too.
    fn unknown(&self, world: &mut dyn ChainAccess, name: &str, args: Map<String, Value>) -> ErrorData {
        let name = printable(name, 100);
        let call = world.record_call(&self.toolset.who, &name, &Value::Object(args));
        let answer = ToolAnswer::error(ToolErrorCode::UnknownTool, "there is no such tool at this seat");
        world.note(&self.toolset.who, EventKind::Answered { call, answer });
        ErrorData::invalid_params(format!("unknown tool: {name}"), None)
    }

    async fn call(&self, world: &mut dyn ChainAccess, name: &str, args: Map<String, Value>) -> McpReply {
        let args = Value::Object(args);
        let call = world.record_call(&self.toolset.who, name, &args);
        match world.call(&self.toolset.who, call, name, &args).await {
            ToolAnswer::Result(value) => McpReply::Done(value),
            ToolAnswer::Error { code, message } => McpReply::Failed(format!("{code}: {message}")),
        }
    }

    async fn delegate(&self, world: &mut dyn ChainAccess, to: &str, params: Map<String, Value>) -> McpReply {
        world.note(&self.toolset.who, EventKind::Delegated { to: to.to_owned(), params: params.clone() });
        let Some(answer) = world.ask_peer(&self.toolset.who, to, &params).await else {
            return McpReply::Failed(format!("nobody answers as {to} in this world; do its work yourself or go on without it"));
        };
        let decision = match answer.decision {
            ReviewDecision::Approve => "approve",
            ReviewDecision::Veto => "veto",
        };
        McpReply::Done(json!({ "action_id": answer.action_id, "decision": decision, "reason": answer.reason }))
    }

    fn record_move<T>(
        &self,
        world: &mut dyn ChainAccess,
        said: Result<T, move_tools::ArgumentError>,
        told: impl FnOnce(T) -> (Value, EventKind),
    ) -> McpReply {
        match said {
            Err(why) => McpReply::Failed(format!("{}: {why}", ToolErrorCode::InvalidArguments)),
            Ok(said) => {
                let (answer, happened) = told(said);
                world.note(&self.toolset.who, happened);
                McpReply::Done(answer)
            }
        }
    }
}

impl ServerHandler for WorldServer {
    fn get_info(&self) -> ServerConfig {
        server_config()
    }

    async fn list_tools(&self, _: Option<PaginatedRequestParams>, _: RequestContext<RoleServer>) -> Result<ListToolsResult, ErrorData> {
        self.inner.list().await
    }

    async fn call_tool(&self, request: CallToolRequestParams, _: RequestContext<RoleServer>) -> Result<CallToolResponse, ErrorData> {
        let inner = self.inner.clone();
        // On a task of its own: a client that hangs up must not leave a transaction without its record.
        let acting = tokio::spawn(async move { inner.handle_call(&request.name, request.arguments.unwrap_or_default()).await });
        let outcome = acting.await.map_err(|_| ErrorData::internal_error("the world failed", None))??;
        Ok(outcome.into_call_result().into())
    }
}
