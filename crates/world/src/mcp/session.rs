//! One session with one server over any transport: handshake, tool list, close.

use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{ClientCapabilities, ClientConfig, Implementation, ProtocolVersion};
use rmcp::service::{ClientInitializeError, ClientLifecycleMode, ClientServiceExt, RunningService};
use rmcp::transport::IntoTransport;

use super::error::Fault;
use super::limits::Limits;
use super::listed::Listed;
use super::pages;
use super::server::OWN_NAME;
use super::shown::shown;

/// Time to close a session; the tools are known by then.
pub(super) const GOODBYE: Duration = Duration::from_millis(500);

pub(super) async fn list<T, E, A>(transport: T, limits: &Limits) -> Result<Listed, Fault>
where
    T: IntoTransport<RoleClient, E, A>,
    E: std::error::Error + Send + Sync + 'static,
{
    let conversation = async {
        let service = open(transport).await?;
        let offers = pages::all_offers(service.peer(), limits).await?;
        Ok((service, offers))
    };
    let (mut service, offers) =
        tokio::time::timeout(limits.time, conversation).await.map_err(|_| Fault::NoAnswer { within: limits.time })??;
    let outputs = offers.iter().filter_map(|offer| Some((offer.listing.name.clone(), offer.output_schema.clone()?))).collect();
    let tools = offers.into_iter().map(|offer| offer.listing).collect();
    let mut listed = Listed { server: String::new(), version: String::new(), protocol: String::new(), tools, outputs };
    if let Some(info) = service.peer_info() {
        listed.protocol = shown(info.protocol_version.as_str(), 100);
        if let Some(about) = &info.server_info {
            listed.server = shown(&about.name, 200);
            listed.version = shown(&about.version, 100);
        }
    }
    let _ = service.close_with_timeout(GOODBYE).await;
    Ok(listed)
}

// The newest protocol has no `initialize`; older servers answer the first question with an error and are then asked the old way.
pub(super) async fn open<T, E, A>(transport: T) -> Result<RunningService<RoleClient, ClientConfig>, Fault>
where
    T: IntoTransport<RoleClient, E, A>,
    E: std::error::Error + Send + Sync + 'static,
{
    let lifecycle = ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::LATEST],
        legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
    };
    // No capabilities: a server may not ask us to sample a model, list folders or question the user.
    let we = ClientConfig::new(ClientCapabilities::default(), Implementation::new(OWN_NAME, env!("CARGO_PKG_VERSION")));
    we.serve_with_lifecycle(transport, lifecycle).await.map_err(handshake)
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the SDK's enum is open; what we do not know is told in its own words")]
fn handshake(error: ClientInitializeError) -> Fault {
    match error {
        ClientInitializeError::ConnectionClosed(_) => Fault::Ended { how: "it closed the connection".to_owned() },
        ClientInitializeError::TransportError { error, .. } => Fault::Ended { how: shown(&error.to_string(), 300) },
        ClientInitializeError::JsonRpcError(error) => Fault::refused(&error),
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => handshake(*fallback),
        other => Fault::NotMcp { why: shown(&other.to_string(), 300) },
    }
}
