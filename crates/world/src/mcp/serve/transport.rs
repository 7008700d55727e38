//! Transports without a network: a pair of streams such as stdio, or an in-memory pipe.

use rmcp::ServiceExt;
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream};
use tokio::task::JoinHandle;

use super::line_limit::limit_lines;
use super::world_server::WorldServer;
use crate::mcp::error::{McpError, McpFault};
use crate::mcp::printable::printable;
use crate::mcp::server::SERVER_NAME;

/// Maximum size of a message, the same as over HTTP.
const MAX_LINE_BYTES: usize = 4 * 1024 * 1024;

/// Serves until the client closes its end. Close the [`super::WorldLock`] before taking the events.
pub async fn serve_streams<R, W>(server: WorldServer, input: R, output: W) -> Result<(), McpError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let (input, output, copying) = limit_lines(input, output, MAX_LINE_BYTES);
    let transport = AsyncRwTransport::new(input, output).with_max_line_length(MAX_LINE_BYTES + 1);
    let failed = |why: String| McpError::new(SERVER_NAME, McpFault::NotMcp { why: printable(&why, 300) });
    let running = server.serve(transport).await.map_err(|error| failed(error.to_string()))?;
    let ended = running.waiting().await.map(|_| ()).map_err(|error| failed(error.to_string()));
    // The last answers are still being written.
    let _ = copying.await;
    ended
}

/// Serves in this process and returns the client's end. The server stops when that end is dropped.
pub fn serve_in_memory(server: WorldServer) -> (DuplexStream, JoinHandle<Result<(), McpError>>) {
    let (near, far) = tokio::io::duplex(64 * 1024);
    let (input, output) = tokio::io::split(far);
    (near, tokio::spawn(serve_streams(server, input, output)))
}
