//! Server and client of this crate connected in memory: lists a catalogue as a client sees it, without a process or port.

use std::sync::Arc;

use model::ToolListing;
use rmcp::ServiceExt;

use super::error::McpError;
use super::limits::McpLimits;
use super::server::{ListOnlyHandler, SERVER_NAME, ToolServer};
use super::session;

/// Serves `listings` and returns the tools that a client lists, in order, following all pages.
pub async fn list_in_memory(listings: Vec<ToolListing>) -> Result<Vec<ToolListing>, McpError> {
    let server = ToolServer::new(listings, Arc::new(ListOnlyHandler))?;
    let (client_end, server_end) = tokio::io::duplex(64 * 1024);
    // A task, because the handshake needs both ends. The server ends when the client end is dropped.
    let serving = tokio::spawn(async move {
        if let Ok(running) = server.serve(server_end).await {
            let _ = running.waiting().await;
        }
    });
    let listed = session::list_tools(client_end, &own_limits()).await;
    serving.abort();
    listed.map(|listed| listed.tools).map_err(|fault| McpError::new(SERVER_NAME, fault))
}

// Our own catalogue is trusted. The time limit stays, so that a defect cannot hang a command.
fn own_limits() -> McpLimits {
    McpLimits { tools: usize::MAX, pages: usize::MAX, text_bytes: usize::MAX, ..McpLimits::default() }
}
