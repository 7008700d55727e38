//! One trial behind its three endpoints.

use std::fmt;
use std::sync::Arc;

use alloy_primitives::B256;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};

use super::http::BODY;
use super::rpc::Rpc;
use super::token::Token;
use crate::Who;
use crate::mcp::McpError;
use crate::mcp::serve::{Door, Seat, SharedWorld, WorldServer};

pub(super) type Mcp = StreamableHttpService<WorldServer, NeverSessionManager>;

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
        // No sessions: every request stands for itself, so none can be hijacked, exhausted or left behind.
        let config = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            .with_json_response(true)
            .enforce_origin_validation()
            .with_max_request_body_bytes(BODY);
        let mcp = StreamableHttpService::new(move || Ok(server.clone()), Arc::default(), config);
        let rpc = Arc::new(Rpc::new(door.clone(), who.clone()));
        let digest = Token::digest(token.as_str());
        Ok(Self { id: id.to_owned(), digest, door, who, mcp, rpc })
    }
}

impl fmt::Debug for Trial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trial").field("id", &self.id).field("who", &self.who).finish_non_exhaustive()
    }
}
