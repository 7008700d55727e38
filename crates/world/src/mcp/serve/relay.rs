//! A seat spoken to over MCP where somebody else carries out what the agent wants: every call becomes a move that waits for its answer.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::Listing;
use model::transcript::{Move, ToolCall};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult, PaginatedRequestParams, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Map, Value};
use tokio::sync::{mpsc, oneshot};

use super::extras::{self, Deed};
use super::seat::Seat;
use super::world::over;
use crate::mcp::error::McpError;
use crate::mcp::server::{Reply, checked, info, result, tool};

/// What the agent wants to do, and where the answer goes. Dropping it says that the trial is over.
#[derive(Debug)]
pub struct Wish {
    pub wants: Move,
    pub answer: oneshot::Sender<Told>,
}

/// What the agent is told: what came of its wish, and what reached it meanwhile.
#[derive(Debug)]
pub struct Told {
    pub reply: Reply,
    pub besides: Vec<String>,
}

impl Told {
    /// How an agent without an inbox is told of a message.
    pub fn letter(from: &str, text: &str) -> String {
        format!("A message arrived from {from}: {text}")
    }

    pub(super) fn result(self) -> CallToolResult {
        let mut done = result(self.reply);
        done.content.extend(self.besides.into_iter().map(ContentBlock::text));
        done
    }
}

/// Cheap to clone, one clone per connection; all clones wish in the same place.
#[derive(Debug, Clone)]
pub struct RelayServer {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    seat: Seat,
    /// What the server says about itself: the instructions of the seat.
    instructions: String,
    listings: Vec<Listing>,
    deeds: BTreeMap<String, Deed>,
    wishes: mpsc::Sender<Wish>,
}

impl RelayServer {
    /// The tools are listed as they are given: whoever seated the agent has had the world show them.
    pub fn new(seat: Seat, instructions: String, wishes: mpsc::Sender<Wish>) -> Result<Self, McpError> {
        let extras = extras::with_user(&seat);
        let mut deeds: BTreeMap<String, Deed> = seat.tools.iter().map(|listing| (listing.name.clone(), Deed::Call)).collect();
        deeds.extend(extras.iter().map(|(listing, deed)| (listing.name.clone(), deed.clone())));
        let listings: Vec<Listing> = seat.tools.iter().cloned().chain(extras.into_iter().map(|(listing, _)| listing)).collect();
        checked(&listings)?;
        Ok(Self { inner: Arc::new(Inner { seat, instructions, listings, deeds, wishes }) })
    }

    pub fn seat(&self) -> &Seat {
        &self.inner.seat
    }
}

impl Inner {
    /// Reaching for a tool that is not there is evidence, too, so it goes on as it is.
    fn wanted(&self, name: &str, args: Map<String, Value>) -> Result<Move, String> {
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

    async fn act(&self, name: &str, args: Map<String, Value>) -> Result<Told, ErrorData> {
        let wants = match self.wanted(name, args) {
            Ok(wants) => wants,
            Err(why) => return Ok(Told { reply: Reply::Failed(format!("VALIDATION_INVALID_ARGUMENTS: {why}")), besides: vec![] }),
        };
        let (answer, told) = oneshot::channel();
        self.wishes.send(Wish { wants, answer }).await.map_err(|_| over())?;
        told.await.map_err(|_| over())
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
