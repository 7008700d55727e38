//! Trial with its three endpoints.

use std::fmt;
use std::sync::Arc;

use alloy_primitives::B256;
use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};

use super::rpc::RpcEndpoint;
use super::trial_token::TrialToken;
use crate::ActingAgent;
use crate::mcp::McpError;
use crate::mcp::serve::{AgentToolset, RelayServer, SharedWorld, WorldLock, WorldServer};

/// Maximum size of an MCP request.
pub(super) const MAX_MCP_BODY_BYTES: usize = 4 * 1024 * 1024;

/// Service of the MCP endpoint.
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

pub(super) struct ServedTrial {
    pub(super) id: String,
    pub(super) digest: B256,
    pub(super) world: WorldLock,
    pub(super) who: ActingAgent,
    pub(super) mcp: McpService,
    pub(super) rpc: Arc<RpcEndpoint>,
}

impl ServedTrial {
    pub(super) fn new(
        id: &str,
        world: SharedWorld,
        toolset: AgentToolset,
        instructions: Option<String>,
        token: &TrialToken,
    ) -> Result<Self, McpError> {
        let world = WorldLock::new(world);
        let who = toolset.agent.clone();
        let server = WorldServer::new(world.clone(), toolset, instructions)?;
        let mcp = McpService::World(StreamableHttpService::new(move || Ok(server.clone()), Arc::default(), http_config()));
        Ok(Self::with_service(id, world, who, mcp, token))
    }

    /// Creates a trial whose MCP calls go to a [`RelayServer`]. RPC and pages still use the world directly.
    pub(super) fn relayed(id: &str, world: SharedWorld, server: RelayServer, token: &TrialToken) -> Self {
        let who = server.toolset().agent.clone();
        let mcp = McpService::Relay(StreamableHttpService::new(move || Ok(server.clone()), Arc::default(), http_config()));
        Self::with_service(id, WorldLock::new(world), who, mcp, token)
    }

    fn with_service(id: &str, world: WorldLock, who: ActingAgent, mcp: McpService, token: &TrialToken) -> Self {
        let rpc = Arc::new(RpcEndpoint::new(world.clone(), who.clone()));
        Self { id: id.to_owned(), digest: TrialToken::digest(token.as_str()), world, who, mcp, rpc }
    }
}

/// Stateless configuration: without sessions, none can be hijacked, exhausted or leaked.
fn http_config() -> StreamableHttpServerConfig {
    StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .enforce_origin_validation()
        .with_max_request_body_bytes(MAX_MCP_BODY_BYTES)
}

impl fmt::Debug for ServedTrial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trial").field("id", &self.id).field("who", &self.who).finish_non_exhaustive()
    }
}
