//! One trial behind its three endpoints.

use std::fmt;
use std::sync::Arc;

use alloy_primitives::B256;
use http_body_util::Full;
use hyper::Request;
use hyper::body::Bytes;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};

use super::http::{Answer, BODY};
use super::rpc::Rpc;
use super::token::Token;
use crate::Who;
use crate::mcp::McpError;
use crate::mcp::serve::{Door, RelayServer, Seat, SharedWorld, WorldServer};

/// What stands behind the MCP endpoint.
pub(super) enum Mcp {
    World(StreamableHttpService<WorldServer, NeverSessionManager>),
    Relay(StreamableHttpService<RelayServer, NeverSessionManager>),
}

impl Mcp {
    pub(super) async fn handle(&self, request: Request<Full<Bytes>>) -> Answer {
        match self {
            Mcp::World(service) => service.handle(request).await,
            Mcp::Relay(service) => service.handle(request).await,
        }
    }
}

pub(super) struct Trial {
    pub(super) id: String,
    pub(super) digest: B256,
    pub(super) door: Door,
    pub(super) who: Who,
    pub(super) mcp: Mcp,
    pub(super) rpc: Arc<Rpc>,
}

impl Trial {
    pub(super) fn new(id: &str, world: SharedWorld, seat: Seat, token: &Token) -> Result<Self, McpError> {
        let door = Door::new(world);
        let who = seat.who.clone();
        let server = WorldServer::new(door.clone(), seat)?;
        let mcp = Mcp::World(StreamableHttpService::new(move || Ok(server.clone()), Arc::default(), config()));
        Ok(Self::behind(id, door, who, mcp, token))
    }

    /// A trial whose calls somebody else carries out; chains and pages are the world's own.
    pub(super) fn relayed(id: &str, world: SharedWorld, server: RelayServer, token: &Token) -> Self {
        let who = server.seat().who.clone();
        let mcp = Mcp::Relay(StreamableHttpService::new(move || Ok(server.clone()), Arc::default(), config()));
        Self::behind(id, Door::new(world), who, mcp, token)
    }

    fn behind(id: &str, door: Door, who: Who, mcp: Mcp, token: &Token) -> Self {
        let rpc = Arc::new(Rpc::new(door.clone(), who.clone()));
        Self { id: id.to_owned(), digest: Token::digest(token.as_str()), door, who, mcp, rpc }
    }
}

/// No sessions: every request stands for itself, so none can be hijacked, exhausted or left behind.
fn config() -> StreamableHttpServerConfig {
    StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .enforce_origin_validation()
        .with_max_request_body_bytes(BODY)
}

impl fmt::Debug for Trial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trial").field("id", &self.id).field("who", &self.who).finish_non_exhaustive()
    }
}
