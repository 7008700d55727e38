//! MCP server for one agent of a trial that executes its moves directly in the world.

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
use super::parallel_calls::ParallelCalls;
use super::world_lock::WorldLock;
use crate::ChainAccess;
use crate::mcp::error::McpError;
use crate::mcp::printable::printable;
use crate::mcp::server::{McpReply, check_listings, server_config, to_mcp_tool};

/// Cheap to clone; use one clone per connection. All clones act in the same world.
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
    /// Sent to the client in the handshake.
    instructions: Option<String>,
    parallel: ParallelCalls,
}

impl WorldServer {
    /// # Errors
    ///
    /// Fails if two tools, including the move tools, have the same name or a schema is not an object.
    pub fn new(world: WorldLock, toolset: AgentToolset, instructions: Option<String>) -> Result<Self, McpError> {
        let extras = move_tools::for_toolset(&toolset);
        check_listings(toolset.tools.iter().chain(extras.iter().map(|(listing, _)| listing)))?;
        let mut move_kinds: BTreeMap<String, MoveKind> =
            toolset.tools.iter().map(|listing| (listing.name.clone(), MoveKind::Call)).collect();
        move_kinds.extend(extras.iter().map(|(listing, kind)| (listing.name.clone(), kind.clone())));
        let move_tools = extras.into_iter().map(|(listing, _)| listing).collect();
        let instructions = instructions.filter(|text| !text.is_empty());
        let parallel = ParallelCalls::default();
        Ok(Self { inner: Arc::new(WorldServerInner { world, toolset, move_tools, move_kinds, instructions, parallel }) })
    }
}

impl WorldServerInner {
    /// Lists the tools. Asks the world every time, because its notes may change and each reading is recorded.
    async fn list(&self) -> Result<ListToolsResult, ErrorData> {
        let mut world = self.world.lock().await.ok_or_else(trial_over_error)?;
        let listings = world.annotate_tools(&self.toolset.agent, self.toolset.tools.clone());
        drop(world);
        // One page, because many agents do not follow the cursor.
        let tools = listings.into_iter().chain(self.move_tools.iter().cloned()).filter_map(to_mcp_tool).collect();
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn handle_call(&self, name: &str, args: Map<String, Value>) -> Result<MoveOutcome, ErrorData> {
        let joined = self.parallel.join().await;
        let mut world = self.world.lock().await.ok_or_else(trial_over_error)?;
        // Thinking time of an external agent is not observable, so it is charged per move. Parallel calls are one move.
        if joined.is_first() {
            world.think();
        }
        let reply = self.run_move(&mut *world, name, args).await?;
        let messages = world.take_messages(&self.toolset.agent);
        let messages = messages.iter().map(|message| MoveOutcome::message_text(&message.from, &message.text)).collect();
        Ok(MoveOutcome { reply, messages })
    }

    async fn run_move(&self, world: &mut dyn ChainAccess, name: &str, args: Map<String, Value>) -> Result<McpReply, ErrorData> {
        match self.move_kinds.get(name) {
            None => Err(self.unknown(world, name, args)),
            Some(MoveKind::Call) => Ok(self.call(world, name, args).await),
            Some(MoveKind::Delegate { to }) => Ok(self.delegate(world, to, args).await),
            Some(MoveKind::UseSkill) => Ok(self.record_move(world, move_tools::parse_skill(&self.toolset, &args), |(skill, params)| {
                (json!({ "activated": skill }), EventKind::Activated { skill, params })
            })),
            // Listed only in trials with a user, which use the relay server.
            Some(MoveKind::Ask | MoveKind::Refuse) => Err(trial_over_error()),
            Some(MoveKind::Report) => {
                Ok(self
                    .record_move(world, move_tools::parse_text(&args), |text| (json!({ "reported": true }), EventKind::Reported { text })))
            }
        }
    }

    /// Records a call of an unknown tool, because it is evidence.
    fn unknown(&self, world: &mut dyn ChainAccess, name: &str, args: Map<String, Value>) -> ErrorData {
        let name = printable(name, 100);
        let call = world.record_call(&self.toolset.agent, &name, &Value::Object(args));
        let answer = ToolAnswer::error(ToolErrorCode::UnknownTool, "this agent has no tool with that name");
        world.note(&self.toolset.agent, EventKind::Answered { call, answer });
        ErrorData::invalid_params(format!("unknown tool: {name}"), None)
    }

    async fn call(&self, world: &mut dyn ChainAccess, name: &str, args: Map<String, Value>) -> McpReply {
        let args = Value::Object(args);
        let call = world.record_call(&self.toolset.agent, name, &args);
        match world.call(&self.toolset.agent, call, name, &args).await {
            ToolAnswer::Result(value) => McpReply::Done(value),
            ToolAnswer::Error { code, message } => McpReply::Failed(format!("{code}: {message}")),
        }
    }

    async fn delegate(&self, world: &mut dyn ChainAccess, to: &str, params: Map<String, Value>) -> McpReply {
        world.note(&self.toolset.agent, EventKind::Delegated { to: to.to_owned(), params: params.clone() });
        let Some(answer) = world.ask_peer(&self.toolset.agent, to, &params).await else {
            return McpReply::Failed(format!("the agent {to} is not available; do its part yourself or continue without it"));
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
        parsed: Result<T, move_tools::ArgumentError>,
        to_event: impl FnOnce(T) -> (Value, EventKind),
    ) -> McpReply {
        match parsed {
            Err(why) => McpReply::Failed(format!("{}: {why}", ToolErrorCode::InvalidArguments)),
            Ok(value) => {
                let (answer, happened) = to_event(value);
                world.note(&self.toolset.agent, happened);
                McpReply::Done(answer)
            }
        }
    }
}

impl ServerHandler for WorldServer {
    fn get_info(&self) -> ServerConfig {
        match &self.inner.instructions {
            Some(instructions) => server_config().with_instructions(instructions.clone()),
            None => server_config(),
        }
    }

    async fn list_tools(&self, _: Option<PaginatedRequestParams>, _: RequestContext<RoleServer>) -> Result<ListToolsResult, ErrorData> {
        self.inner.list().await
    }

    async fn call_tool(&self, request: CallToolRequestParams, _: RequestContext<RoleServer>) -> Result<CallToolResponse, ErrorData> {
        let inner = self.inner.clone();
        // On a separate task: a client that disconnects must not leave a transaction unrecorded.
        let acting = tokio::spawn(async move { inner.handle_call(&request.name, request.arguments.unwrap_or_default()).await });
        let outcome = acting.await.map_err(|_| ErrorData::internal_error("internal error", None))??;
        Ok(outcome.into_call_result().into())
    }
}
