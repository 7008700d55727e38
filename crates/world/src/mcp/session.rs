//! Session with one server over any transport: handshake, tool list, close.

use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{ClientCapabilities, ClientConfig, Implementation, ProtocolVersion};
use rmcp::service::{ClientInitializeError, ClientLifecycleMode, ClientServiceExt, RunningService};
use rmcp::transport::IntoTransport;

use super::error::McpFault;
use super::late_reply_filter::{HandedBack, LateReplyFilter, take_discovered};
use super::limits::McpLimits;
use super::printable::printable;
use super::server::SERVER_NAME;
use super::server_listing::ServerListing;
use super::tool_list;

/// Time for closing a session.
pub(super) const CLOSE_TIMEOUT: Duration = Duration::from_millis(500);

pub(super) async fn list_tools<T, E, A>(transport: T, limits: &McpLimits) -> Result<ServerListing, McpFault>
where
    T: IntoTransport<RoleClient, E, A>,
    E: std::error::Error + Send + Sync + 'static,
{
    let session = async {
        let service = open(transport).await?;
        let offers = tool_list::fetch_all_tools(service.peer(), limits).await?;
        Ok((service, offers))
    };
    let (mut service, offers) =
        tokio::time::timeout(limits.timeout, session).await.map_err(|_| McpFault::NoAnswer { within: limits.timeout })??;
    let outputs = offers.iter().filter_map(|offer| Some((offer.listing.name.clone(), offer.output_schema.clone()?))).collect();
    let effects = offers.iter().filter_map(|offer| Some((offer.listing.name.clone(), offer.declared_effect?))).collect();
    let tools = offers.into_iter().map(|offer| offer.listing).collect();
    let mut listed = ServerListing { server: String::new(), version: String::new(), protocol: String::new(), tools, outputs, effects };
    if let Some(info) = service.peer_info() {
        listed.protocol = printable(info.protocol_version.as_str(), 100);
        if let Some(about) = &info.server_info {
            listed.server = printable(&about.name, 200);
            listed.version = printable(&about.version, 100);
        }
    }
    let _ = service.close_with_timeout(CLOSE_TIMEOUT).await;
    Ok(listed)
}

// The newest protocol has no `initialize`. Older servers answer the first request with an error, then `initialize` is used. A server of the
// newest protocol that needs longer to start than the SDK waits is met a second time, in that protocol.
pub(super) async fn open<T, E, A>(transport: T) -> Result<RunningService<RoleClient, ClientConfig>, McpFault>
where
    T: IntoTransport<RoleClient, E, A>,
    E: std::error::Error + Send + Sync + 'static,
{
    let lifecycle = ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::LATEST],
        legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
    };
    // No capabilities: a server may not request sampling, roots or elicitation.
    let client = ClientConfig::new(ClientCapabilities::default(), Implementation::new(SERVER_NAME, env!("CARGO_PKG_VERSION")));
    let handed_back = HandedBack::default();
    let filter = LateReplyFilter::new(transport.into_transport(), handed_back.clone());
    match client.clone().serve_with_lifecycle(filter, lifecycle).await {
        Ok(service) => Ok(service),
        Err(error) => match take_discovered(&handed_back) {
            Some(filter) => {
                let discover = ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::LATEST] };
                client.serve_with_lifecycle(filter, discover).await.map_err(handshake_fault)
            }
            None => Err(handshake_fault(error)),
        },
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the SDK's enum is non-exhaustive; other errors keep their text")]
fn handshake_fault(error: ClientInitializeError) -> McpFault {
    match error {
        ClientInitializeError::ConnectionClosed(_) => McpFault::Ended { how: "it closed the connection".to_owned() },
        ClientInitializeError::TransportError { error, .. } => McpFault::Ended { how: printable(&error.to_string(), 300) },
        ClientInitializeError::JsonRpcError(error) => McpFault::refused(&error),
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => handshake_fault(*fallback),
        ClientInitializeError::ExpectedInitResponse(_) | ClientInitializeError::ExpectedInitResult(_) => {
            McpFault::NotMcp { why: "its answer to `initialize` is not the result of a handshake".to_owned() }
        }
        ClientInitializeError::NoCompatibleProtocolVersion { server_supported, .. } => {
            let versions: Vec<&str> = server_supported.iter().map(ProtocolVersion::as_str).collect();
            let why = format!("it supports only the protocol versions {}", printable(&versions.join(", "), 200));
            McpFault::NotMcp { why }
        }
        other => McpFault::NotMcp { why: printable(&other.to_string(), 300) },
    }
}
