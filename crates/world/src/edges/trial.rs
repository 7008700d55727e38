//! One trial behind its three endpoints.

use std::fmt;
use std::sync::Arc;

use alloy_primitives::B256;
use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};

use super::rpc::Rpc;
use super::token::Token;
use crate::Who;
use crate::mcp::McpError;
use crate::mcp::serve::{RelayServer, Seat, SharedWorld, WorldLock, WorldServer};

/// Bytes of one MCP request.
pub(super) const MCP_BODY: usize = 4 * 1024 * 1024;

/// The service behind the MCP endpoint.
pub(super) enum McpService {
    World(StreamableHttpService<WorldServer, NeverSessionManager>),
    Relay(StreamableHttpService<RelayServer, NeverSessionManager>),
}

impl McpService {
    pub(super) async fn handle(&self, request: Request) -> Response {
        let response = match self {
            Self::World(service) => service.handle(request).await,
            Self::Relay(service) => service.handle(request).await,
        };
        response.map(Body::new)
    }
}

pub(super) struct Trial {
    pub(super) id: String,
    pub(super) digest: B256,
    pub(super) world: WorldLock,
    pub(super) who: Who,
    pub(super) mcp: McpService,
    pub(super) rpc: Arc<Rpc>,
}

impl Trial {
    pub(super) fn new(id: &str, world: SharedWorld, seat: Seat, token: &Token) -> Result<Self, McpError> {
        let world = WorldLock::new(world);
        let who = seat.who.clone();
        let server = WorldServer::new(world.clone(), seat)?;
        let mcp = McpService::World(StreamableHttpService::new(move || Ok(server.clone()), Arc::default(), config()));
        Ok(Self::behind(id, world, who, mcp, token))
    }

    /// A trial whose calls another party carries out; chains and pages are the world's own.
    pub(super) fn relayed(id: &str, world: SharedWorld, server: RelayServer, token: &Token) -> Self {
        let who = server.seat().who.clone();
        let mcp = McpService::Relay(StreamableHttpService::new(move || Ok(server.clone()), Arc::default(), config()));
        Self::behind(id, WorldLock::new(world), who, mcp, token)
    }

    fn behind(id: &str, world: WorldLock, who: Who, mcp: McpService, token: &Token) -> Self {
        let rpc = Arc::new(Rpc::new(world.clone(), who.clone()));
        Self { id: id.to_owned(), digest: Token::digest(token.as_str()), world, who, mcp, rpc }
    }
}

/// No sessions: every request stands for itself, so none can be hijacked, exhausted or left behind.
fn config() -> StreamableHttpServerConfig {
    StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .enforce_origin_validation()
        .with_max_request_body_bytes(MCP_BODY)
}

impl fmt::Debug for Trial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trial").field("id", &self.id).field("who", &self.who).finish_non_exhaustive()
    }
}
