//! MCP server for an agent whose moves another party carries out: every call becomes a move that waits for its outcome.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::Listing;
use model::transcript::{Move, ToolCall};
use rmcp::model::{CallToolRequestParams, CallToolResponse, ListToolsResult, PaginatedRequestParams, ServerConfig};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Map, Value};
use tokio::sync::{mpsc, oneshot};

use super::extras::{self, Deed};
use super::outcome::{MoveOutcome, trial_over};
use super::seat::Seat;
use crate::mcp::error::McpError;
use crate::mcp::server::{Reply, checked, info, tool};

/// A move that waits for its outcome. Dropping it ends the trial for the agent.
#[derive(Debug)]
pub struct PendingMove {
    pub wants: Move,
    pub answer: oneshot::Sender<MoveOutcome>,
}

/// Cheap to clone, one clone per connection; all clones send to the same queue.
#[derive(Debug, Clone)]
pub struct RelayServer {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    seat: Seat,
    /// The instructions of the seat, which the server gives to its client.
    instructions: String,
    listings: Vec<Listing>,
    deeds: BTreeMap<String, Deed>,
    moves: mpsc::Sender<PendingMove>,
}

impl RelayServer {
    /// Lists the tools as they are given; the caller has had the world add its notes.
    pub fn new(seat: Seat, instructions: String, moves: mpsc::Sender<PendingMove>) -> Result<Self, McpError> {
        let extras = extras::with_user(&seat);
        let mut deeds: BTreeMap<String, Deed> = seat.tools.iter().map(|listing| (listing.name.clone(), Deed::Call)).collect();
        deeds.extend(extras.iter().map(|(listing, deed)| (listing.name.clone(), deed.clone())));
        let listings: Vec<Listing> = seat.tools.iter().cloned().chain(extras.into_iter().map(|(listing, _)| listing)).collect();
        checked(&listings)?;
        Ok(Self { inner: Arc::new(Inner { seat, instructions, listings, deeds, moves }) })
    }

    pub fn seat(&self) -> &Seat {
        &self.inner.seat
    }
}

impl Inner {
    /// Reaching for a tool that is not there is evidence, too, so it goes on as it is.
    fn wanted(&self, name: &str, args: Map<String, Value>) -> Result<Move, extras::ArgumentError> {
        Ok(match self.deeds.get(name) {
            None | Some(Deed::Call) => {
                let tool = name.chars().take(200).collect();
                Move::Call(vec![ToolCall { tool, args: Value::Object(args) }])
            }
            Some(Deed::Delegate { to }) => Move::Delegate { to: to.clone(), params: args },
            Some(Deed::UseSkill) => extras::skill(&self.seat, &args).map(|(skill, params)| Move::Activate { skill, params })?,
            Some(Deed::Report) => Move::Report(extras::reported(&args)?),
            Some(Deed::Ask) => Move::Ask(extras::reported(&args)?),
            Some(Deed::Refuse) => Move::Refuse(extras::reported(&args)?),
        })
    }

    async fn act(&self, name: &str, args: Map<String, Value>) -> Result<MoveOutcome, ErrorData> {
        let wants = match self.wanted(name, args) {
            Ok(wants) => wants,
            Err(why) => return Ok(MoveOutcome { reply: Reply::Failed(format!("VALIDATION_INVALID_ARGUMENTS: {why}")), messages: vec![] }),
        };
        let (answer, outcome) = oneshot::channel();
        self.moves.send(PendingMove { wants, answer }).await.map_err(|_| trial_over())?;
        outcome.await.map_err(|_| trial_over())
    }
}

impl ServerHandler for RelayServer {
    fn get_info(&self) -> ServerConfig {
        info().with_instructions(self.inner.instructions.clone())
    }

    async fn list_tools(&self, _: Option<PaginatedRequestParams>, _: RequestContext<RoleServer>) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.inner.listings.iter().cloned().filter_map(tool).collect()))
    }

    async fn call_tool(&self, request: CallToolRequestParams, _: RequestContext<RoleServer>) -> Result<CallToolResponse, ErrorData> {
        Ok(self.inner.act(&request.name, request.arguments.unwrap_or_default()).await?.result().into())
    }
}
