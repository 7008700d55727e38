//! Our server and our client joined in memory: what a client would see of a catalogue, with no process and no port.

use std::sync::Arc;

use model::ToolListing;
use rmcp::ServiceExt;

use super::error::McpError;
use super::limits::McpLimits;
use super::server::{ListOnlyHandler, SERVER_NAME, ToolServer};
use super::session;

/// Serves `listings` and returns what a client that follows the pages was told, in the order it was told.
pub async fn list_in_memory(listings: Vec<ToolListing>) -> Result<Vec<ToolListing>, McpError> {
    let server = ToolServer::new(listings, Arc::new(ListOnlyHandler))?;
    let (near, far) = tokio::io::duplex(64 * 1024);
    // The handshake needs both ends at once. The server ends when the near end is dropped.
    let serving = tokio::spawn(async move {
        if let Ok(running) = server.serve(far).await {
            let _ = running.waiting().await;
        }
    });
    let listed = session::list_tools(near, &own_limits()).await;
    serving.abort();
    listed.map(|listed| listed.tools).map_err(|fault| McpError::new(SERVER_NAME, fault))
}

// Our own catalogue is no stranger: only time is bounded, so that a defect of ours cannot hang a command.
fn own_limits() -> McpLimits {
    McpLimits { tools: usize::MAX, pages: usize::MAX, text: usize::MAX, ..McpLimits::default() }
}
