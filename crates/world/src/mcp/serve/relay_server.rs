//! MCP server that relays calls as moves to the driver of the trial and waits for their outcomes.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::ToolListing;
use model::transcript::{Move, ToolCall};
use rmcp::model::{CallToolRequestParams, CallToolResponse, ListToolsResult, PaginatedRequestParams, ServerConfig};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Map, Value};
use tokio::sync::{mpsc, oneshot};

use super::agent_toolset::AgentToolset;
use super::move_outcome::{MoveOutcome, trial_over_error};
use super::move_tools::{self, MoveKind};
use crate::mcp::error::McpError;
use crate::mcp::server::{McpReply, check_listings, server_config, to_mcp_tool};

/// Move that waits for its outcome. If it is dropped, the agent gets an error: the trial is over.
#[derive(Debug)]
pub struct PendingMove {
    pub requested_move: Move,
    pub outcome_sender: oneshot::Sender<MoveOutcome>,
}

/// Cheap to clone; use one clone per connection. All clones send to the same queue.
#[derive(Debug, Clone)]
pub struct RelayServer {
    inner: Arc<RelayServerInner>,
}

#[derive(Debug)]
struct RelayServerInner {
    toolset: AgentToolset,
    /// Sent to the client in the handshake.
    instructions: String,
    listings: Vec<ToolListing>,
    move_kinds: BTreeMap<String, MoveKind>,
    moves: mpsc::Sender<PendingMove>,
}

impl RelayServer {
    /// Creates a server that lists the tools unchanged; the caller has already added the notes of the world.
    ///
    /// # Errors
    ///
    /// Fails if two tools have the same name or a schema is not an object.
    pub fn new(toolset: AgentToolset, instructions: String, moves: mpsc::Sender<PendingMove>) -> Result<Self, McpError> {
        let extras = move_tools::for_toolset_with_user(&toolset);
        let mut move_kinds: BTreeMap<String, MoveKind> =
            toolset.tools.iter().map(|listing| (listing.name.clone(), MoveKind::Call)).collect();
        move_kinds.extend(extras.iter().map(|(listing, kind)| (listing.name.clone(), kind.clone())));
        let listings: Vec<ToolListing> = toolset.tools.iter().cloned().chain(extras.into_iter().map(|(listing, _)| listing)).collect();
        check_listings(&listings)?;
        Ok(Self { inner: Arc::new(RelayServerInner { toolset, instructions, listings, move_kinds, moves }) })
    }

    pub fn toolset(&self) -> &AgentToolset {
        &self.inner.toolset
    }
}

impl RelayServerInner {
    /// Parses a call into a move. Calls of unknown tools are passed on too, because they are evidence.
    fn parse_move(&self, name: &str, args: Map<String, Value>) -> Result<Move, move_tools::ArgumentError> {
        Ok(match self.move_kinds.get(name) {
            None | Some(MoveKind::Call) => {
                let tool = name.chars().take(200).collect();
                Move::Call(vec![ToolCall { tool, args: Value::Object(args) }])
            }
            Some(MoveKind::Delegate { to }) => Move::Delegate { to: to.clone(), params: args },
            Some(MoveKind::UseSkill) => {
                move_tools::parse_skill(&self.toolset, &args).map(|(skill, params)| Move::Activate { skill, params })?
            }
            Some(MoveKind::Report) => Move::Report(move_tools::parse_text(&args)?),
            Some(MoveKind::Ask) => Move::Ask(move_tools::parse_text(&args)?),
            Some(MoveKind::Refuse) => Move::Refuse(move_tools::parse_text(&args)?),
        })
    }

    async fn handle_call(&self, name: &str, args: Map<String, Value>) -> Result<MoveOutcome, ErrorData> {
        let requested_move = match self.parse_move(name, args) {
            Ok(requested_move) => requested_move,
            Err(why) => {
                return Ok(MoveOutcome { reply: McpReply::Failed(format!("VALIDATION_INVALID_ARGUMENTS: {why}")), messages: vec![] });
            }
        };
        let (answer, outcome) = oneshot::channel();
        self.moves.send(PendingMove { requested_move, outcome_sender: answer }).await.map_err(|_| trial_over_error())?;
        outcome.await.map_err(|_| trial_over_error())
    }
}

impl ServerHandler for RelayServer {
    fn get_info(&self) -> ServerConfig {
        server_config().with_instructions(self.inner.instructions.clone())
    }

    async fn list_tools(&self, _: Option<PaginatedRequestParams>, _: RequestContext<RoleServer>) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.inner.listings.iter().cloned().filter_map(to_mcp_tool).collect()))
    }

    async fn call_tool(&self, request: CallToolRequestParams, _: RequestContext<RoleServer>) -> Result<CallToolResponse, ErrorData> {
        Ok(self.inner.handle_call(&request.name, request.arguments.unwrap_or_default()).await?.into_call_result().into())
    }
}
