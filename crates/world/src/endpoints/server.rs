//! HTTP server on a loopback port shared by trials.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet};
use tokio_io_timeout::TimeoutStream;

use super::error::EndpointError;
use super::request_guard::REQUEST_TIMEOUT;
use super::routes;
use super::served_trial::ServedTrial;
use super::trial_registry::TrialRegistry;
use super::trial_token::TrialToken;
use crate::mcp::serve::{AgentToolset, RelayServer, SharedWorld};

/// Maximum number of connections. Further ones wait.
const MAX_CONNECTIONS: usize = 256;
/// Maximum size of the head of a request.
const MAX_HEAD_BYTES: usize = 32 * 1024;

/// Server for any number of trials on one port.
#[derive(Debug, Clone)]
pub struct EndpointServer {
    port: Arc<OpenPort>,
}

/// Endpoints of one trial. Dropping this closes them; requests that have not started yet fail.
#[derive(Debug)]
pub struct TrialEndpoints {
    pub url: String,
    pub token: TrialToken,
    trial: Arc<ServedTrial>,
    port: Arc<OpenPort>,
}

/// Closes the port and all its connections when dropped.
#[derive(Debug)]
struct OpenPort {
    at: SocketAddr,
    trials: Arc<TrialRegistry>,
    accepting: AbortHandle,
}

impl Drop for OpenPort {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl EndpointServer {
    /// Opens a free port on 127.0.0.1.
    pub async fn open() -> Result<Self, EndpointError> {
        Self::open_on(0).await
    }

    /// Opens this port on 127.0.0.1; 0 chooses a free one.
    pub async fn open_on(port: u16) -> Result<Self, EndpointError> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let at = listener.local_addr()?;
        let trials = Arc::<TrialRegistry>::default();
        let accepting = tokio::spawn(accept(listener, routes::router(at, trials.clone()))).abort_handle();
        Ok(Self { port: Arc::new(OpenPort { at, trials, accepting }) })
    }

    /// Opens the endpoints of a trial whose calls are executed in the world. MCP clients get the instructions in the handshake.
    ///
    /// # Errors
    ///
    /// Fails if the id is invalid, or the id or token is taken, or a tool cannot be listed.
    pub fn add_trial(
        &self,
        id: &str,
        world: SharedWorld,
        toolset: AgentToolset,
        instructions: Option<String>,
        token: TrialToken,
    ) -> Result<TrialEndpoints, EndpointError> {
        self.register(ServedTrial::new(id, world, toolset, instructions, &token)?, token)
    }

    /// Opens the endpoints of a trial whose calls go to a [`RelayServer`].
    ///
    /// # Errors
    ///
    /// Fails if the id is invalid, or the id or token is taken.
    pub fn add_relayed_trial(
        &self,
        id: &str,
        world: SharedWorld,
        relay: RelayServer,
        token: TrialToken,
    ) -> Result<TrialEndpoints, EndpointError> {
        self.register(ServedTrial::relayed(id, world, relay, &token), token)
    }

    fn register(&self, trial: ServedTrial, token: TrialToken) -> Result<TrialEndpoints, EndpointError> {
        let valid = (1..=128).contains(&trial.id.len()) && trial.id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
        if !valid {
            return Err(EndpointError::BadId(trial.id.chars().take(128).collect()));
        }
        let trial = Arc::new(trial);
        self.port.trials.insert(&trial)?;
        Ok(TrialEndpoints { url: format!("http://{}", self.port.at), token, trial, port: self.port.clone() })
    }
}

impl TrialEndpoints {
    /// Opens a separate port for one trial, with a random token.
    pub async fn open(id: &str, world: SharedWorld, toolset: AgentToolset) -> Result<Self, EndpointError> {
        EndpointServer::open().await?.add_trial(id, world, toolset, None, TrialToken::random()?)
    }

    /// Returns the URL for MCP over streamable HTTP. The token goes into the header `Authorization: Bearer`.
    pub fn mcp_url(&self) -> String {
        format!("{}/mcp/{}", self.url, self.trial.id)
    }

    /// Returns the URL for Ethereum JSON-RPC of one chain. The token is part of the path, as with public providers.
    pub fn rpc_url(&self, chain: u64) -> String {
        format!("{}/rpc/{}/{chain}", self.url, self.token.as_str())
    }

    /// Returns the base URL of the world's files, with a trailing slash.
    pub fn pages_url(&self) -> String {
        format!("{}/pages/{}/", self.url, self.token.as_str())
    }
}

impl Drop for TrialEndpoints {
    fn drop(&mut self) {
        self.trial.world.close();
        self.port.trials.remove(&self.trial.id);
    }
}

async fn accept(listener: TcpListener, router: Router) {
    // Dropping the set when this task is aborted closes all connections.
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            Some(_) = connections.join_next() => {}
            accepted = listener.accept(), if connections.len() < MAX_CONNECTIONS => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(serve(stream, router.clone()));
                }
                // Probably out of file descriptors: wait before the next attempt.
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            },
        }
    }
}

/// Serves one connection. `axum::serve` cannot limit the request head or idle and stalled connections.
async fn serve(stream: TcpStream, router: Router) {
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(REQUEST_TIMEOUT));
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(REQUEST_TIMEOUT).max_buf_size(MAX_HEAD_BYTES);
    // An error of one client affects only its own connection.
    let _ = http.serve_connection(TokioIo::new(Box::pin(stream)), TowerToHyperService::new(router)).await;
}
