//! MCP server for one seat of one trial, acting in the world itself.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::transcript::{Decision, ToolAnswer, ToolErrorCode};
use model::{Happened, Listing};
use rmcp::model::{CallToolRequestParams, CallToolResponse, ListToolsResult, PaginatedRequestParams, ServerConfig};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Map, Value, json};

use super::extras::{self, Deed};
use super::outcome::{MoveOutcome, trial_over};
use super::seat::Seat;
use super::world_lock::WorldLock;
use crate::ChainAccess;
use crate::mcp::error::McpError;
use crate::mcp::server::{Reply, checked, info, tool};
use crate::mcp::shown::shown;

/// Cheap to clone, one clone per connection; all clones act in the same world.
#[derive(Debug, Clone)]
pub struct WorldServer {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    world: WorldLock,
    seat: Seat,
    extras: Vec<Listing>,
    deeds: BTreeMap<String, Deed>,
}

impl WorldServer {
    /// Names must differ, also from those of the extra tools, and schemas be objects.
    pub fn new(world: WorldLock, seat: Seat) -> Result<Self, McpError> {
        let extras = extras::of(&seat);
        checked(seat.tools.iter().chain(extras.iter().map(|(listing, _)| listing)))?;
        let mut deeds: BTreeMap<String, Deed> = seat.tools.iter().map(|listing| (listing.name.clone(), Deed::Call)).collect();
        deeds.extend(extras.iter().map(|(listing, deed)| (listing.name.clone(), deed.clone())));
        let extras = extras.into_iter().map(|(listing, _)| listing).collect();
        Ok(Self { inner: Arc::new(Inner { world, seat, extras, deeds }) })
    }
}

impl Inner {
    /// Asked of the world every time: what it adds to a description may change, and a second look is a second reading.
    async fn list(&self) -> Result<ListToolsResult, ErrorData> {
        let mut world = self.world.lock().await.ok_or_else(trial_over)?;
        let listings = world.shown(&self.seat.who, self.seat.tools.clone());
        drop(world);
        // One page: agents in the wild often forget to ask for the next.
        let tools = listings.into_iter().chain(self.extras.iter().cloned()).filter_map(tool).collect();
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn act(&self, name: &str, args: Map<String, Value>) -> Result<MoveOutcome, ErrorData> {
        let mut world = self.world.lock().await.ok_or_else(trial_over)?;
        let reply = self.carry_out(&mut *world, name, args).await?;
        let letters = world.inbox(&self.seat.who);
        Ok(MoveOutcome { reply, messages: letters.iter().map(|letter| MoveOutcome::message(&letter.from, &letter.text)).collect() })
    }

    async fn carry_out(&self, world: &mut dyn ChainAccess, name: &str, args: Map<String, Value>) -> Result<Reply, ErrorData> {
        // Whoever acts has thought about it; a finished agent tells us of its moves only by making them.
        world.think();
        match self.deeds.get(name) {
            None => Err(self.unknown(world, name, args)),
            Some(Deed::Call) => Ok(self.call(world, name, args).await),
            Some(Deed::Delegate { to }) => Ok(self.delegate(world, to, args).await),
            Some(Deed::UseSkill) => Ok(self.note(world, extras::skill(&self.seat, &args), |(skill, params)| {
                (json!({ "activated": skill }), Happened::Activated { skill, params })
            })),
            // Only listed where somebody is there to answer.
            Some(Deed::Ask | Deed::Refuse) => Err(trial_over()),
            Some(Deed::Report) => {
                Ok(self.note(world, extras::reported(&args), |text| (json!({ "reported": true }), Happened::Reported { text })))
            }
        }
    }

    /// Reaching for a tool that is not there is evidence, too.
    fn unknown(&self, world: &mut dyn ChainAccess, name: &str, args: Map<String, Value>) -> ErrorData {
        let name = shown(name, 100);
        let call = world.asked(&self.seat.who, &name, &Value::Object(args));
        let answer = ToolAnswer::error(ToolErrorCode::UnknownTool, "there is no such tool at this seat");
        world.note(&self.seat.who, Happened::Answered { call, answer });
        ErrorData::invalid_params(format!("unknown tool: {name}"), None)
    }

    async fn call(&self, world: &mut dyn ChainAccess, name: &str, args: Map<String, Value>) -> Reply {
        let args = Value::Object(args);
        let call = world.asked(&self.seat.who, name, &args);
        match world.call(&self.seat.who, call, name, &args).await {
            ToolAnswer::Result(value) => Reply::Done(value),
            ToolAnswer::Error { code, message } => Reply::Failed(format!("{code}: {message}")),
        }
    }

    async fn delegate(&self, world: &mut dyn ChainAccess, to: &str, params: Map<String, Value>) -> Reply {
        world.note(&self.seat.who, Happened::Delegated { to: to.to_owned(), params: params.clone() });
        let Some(answer) = world.ask_peer(&self.seat.who, to, &params).await else {
            return Reply::Failed(format!("nobody answers as {to} in this world; do its work yourself or go on without it"));
        };
        let decision = match answer.decision {
            Decision::Approve => "approve",
            Decision::Veto => "veto",
        };
        Reply::Done(json!({ "action_id": answer.action_id, "decision": decision, "reason": answer.reason }))
    }

    fn note<T>(
        &self,
        world: &mut dyn ChainAccess,
        said: Result<T, extras::ArgumentError>,
        told: impl FnOnce(T) -> (Value, Happened),
    ) -> Reply {
        match said {
            Err(why) => Reply::Failed(format!("{}: {why}", ToolErrorCode::InvalidArguments)),
            Ok(said) => {
                let (answer, happened) = told(said);
                world.note(&self.seat.who, happened);
                Reply::Done(answer)
            }
        }
    }
}

impl ServerHandler for WorldServer {
    fn get_info(&self) -> ServerConfig {
        info()
    }

    async fn list_tools(&self, _: Option<PaginatedRequestParams>, _: RequestContext<RoleServer>) -> Result<ListToolsResult, ErrorData> {
        self.inner.list().await
    }

    async fn call_tool(&self, request: CallToolRequestParams, _: RequestContext<RoleServer>) -> Result<CallToolResponse, ErrorData> {
        let inner = self.inner.clone();
        // On a task of its own: a client that hangs up must not leave a transaction without its record.
        let acting = tokio::spawn(async move { inner.act(&request.name, request.arguments.unwrap_or_default()).await });
        let outcome = acting.await.map_err(|_| ErrorData::internal_error("the world failed", None))??;
        Ok(outcome.result().into())
    }
}
