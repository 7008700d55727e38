//! MCP server for an agent whose moves another party carries out: every call becomes a move that waits for its outcome.

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

/// A move that waits for its outcome. Dropping it ends the trial for the agent.
#[derive(Debug)]
pub struct PendingMove {
    pub requested_move: Move,
    pub answer: oneshot::Sender<MoveOutcome>,
}

/// Cheap to clone, one clone per connection; all clones send to the same queue.
#[derive(Debug, Clone)]
pub struct RelayServer {
    inner: Arc<RelayServerInner>,
}

#[derive(Debug)]
struct RelayServerInner {
    toolset: AgentToolset,
    /// The instructions of the seat, which the server gives to its client.
    instructions: String,
    listings: Vec<ToolListing>,
    move_kinds: BTreeMap<String, MoveKind>,
    moves: mpsc::Sender<PendingMove>,
}

impl RelayServer {
    /// Lists the tools as they are given; the caller has had the world add its notes.
    pub fn new(seat: AgentToolset, instructions: String, moves: mpsc::Sender<PendingMove>) -> Result<Self, McpError> {
        let extras = move_tools::for_toolset_with_user(&seat);
        let mut deeds: BTreeMap<String, MoveKind> = seat.tools.iter().map(|listing| (listing.name.clone(), MoveKind::Call)).collect();
        deeds.extend(extras.iter().map(|(listing, deed)| (listing.name.clone(), deed.clone())));
        let listings: Vec<ToolListing> = seat.tools.iter().cloned().chain(extras.into_iter().map(|(listing, _)| listing)).collect();
        check_listings(&listings)?;
        Ok(Self { inner: Arc::new(RelayServerInner { toolset: seat, instructions, listings, move_kinds: deeds, moves }) })
    }

    pub fn toolset(&self) -> &AgentToolset {
        &self.inner.toolset
    }
}

impl RelayServerInner {
    /// Reaching for a tool that is not there is evidence, too, so it goes on as it is.
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
        let wants = match self.parse_move(name, args) {
            Ok(wants) => wants,
            Err(why) => {
                return Ok(MoveOutcome { reply: McpReply::Failed(format!("VALIDATION_INVALID_ARGUMENTS: {why}")), messages: vec![] });
            }
        };
        let (answer, outcome) = oneshot::channel();
        self.moves.send(PendingMove { requested_move: wants, answer }).await.map_err(|_| trial_over_error())?;
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
