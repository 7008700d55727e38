//! The port: bound to loopback, shared by trials that know nothing of each other, gone when the last of them is.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use alloy_primitives::B256;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, HeaderMap, HeaderValue, WWW_AUTHENTICATE};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet};

use super::http::{self, Answer, BODY, PATIENCE, only, refusal};
use super::stream::Impatient;
use super::token::{BadToken, Token};
use super::trial::Trial;
use super::{pages, rpc};
use crate::mcp::McpError;
use crate::mcp::serve::{RelayServer, Seat, SharedWorld};

/// Connections at one time; more wait their turn.
const CONNECTIONS: usize = 256;
/// Bytes of the head of a request.
const HEAD: usize = 32 * 1024;

#[derive(Debug, thiserror::Error)]
pub enum EdgeError {
    #[error("no port on 127.0.0.1 could be opened: {0}")]
    NoPort(#[from] io::Error),
    #[error(transparent)]
    Token(#[from] BadToken),
    #[error(transparent)]
    Tools(#[from] McpError),
    #[error("a trial's id has 1 to 128 letters, digits, - or _, not \"{0}\"")]
    BadId(String),
    #[error("there is already a trial {0} on this port")]
    RepeatedId(String),
    #[error("this token belongs to another trial on this port")]
    RepeatedToken,
}

/// A port for any number of trials.
#[derive(Debug, Clone)]
pub struct Server {
    hall: Arc<Hall>,
}

/// The endpoints of one trial. Dropping this closes them: whatever has not begun by then never happens.
#[derive(Debug)]
pub struct Edges {
    pub url: String,
    pub token: Token,
    trial: Arc<Trial>,
    hall: Arc<Hall>,
}

#[derive(Debug)]
struct Hall {
    at: SocketAddr,
    trials: Arc<Trials>,
    accepting: AbortHandle,
}

impl Drop for Hall {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

#[derive(Debug, Default)]
struct Trials(RwLock<BTreeMap<String, Arc<Trial>>>);

impl Trials {
    // A panic elsewhere leaves the map whole: every change is a single insertion or removal.
    fn read(&self) -> RwLockReadGuard<'_, BTreeMap<String, Arc<Trial>>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, BTreeMap<String, Arc<Trial>>> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn with_token(&self, token: &str) -> Option<Arc<Trial>> {
        let digest = Token::digest(token);
        self.read().values().find(|trial| trial.digest == digest).cloned()
    }

    fn with_id(&self, id: &str, digest: B256) -> Option<Arc<Trial>> {
        self.read().get(id).filter(|trial| trial.digest == digest).cloned()
    }
}

impl Server {
    /// A free port on 127.0.0.1, never anywhere else.
    pub async fn open() -> Result<Self, EdgeError> {
        Self::open_on(0).await
    }

    pub async fn open_on(port: u16) -> Result<Self, EdgeError> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let at = listener.local_addr()?;
        let trials = Arc::<Trials>::default();
        let accepting = tokio::spawn(accept(listener, at, trials.clone())).abort_handle();
        Ok(Self { hall: Arc::new(Hall { at, trials, accepting }) })
    }

    /// Opens the endpoints of one more trial.
    pub fn admit(&self, id: &str, world: SharedWorld, seat: Seat, token: Token) -> Result<Edges, EdgeError> {
        self.open_door(id, Trial::new(id, world, seat, &token)?, token)
    }

    /// The same for a trial whose calls somebody else carries out.
    pub fn admit_relayed(&self, id: &str, world: SharedWorld, relay: RelayServer, token: Token) -> Result<Edges, EdgeError> {
        self.open_door(id, Trial::relayed(id, world, relay, &token), token)
    }

    fn open_door(&self, id: &str, trial: Trial, token: Token) -> Result<Edges, EdgeError> {
        let fits = (1..=128).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
        if !fits {
            return Err(EdgeError::BadId(id.chars().take(128).collect()));
        }
        let trial = Arc::new(trial);
        let mut trials = self.hall.trials.write();
        if trials.contains_key(id) {
            return Err(EdgeError::RepeatedId(id.to_owned()));
        }
        if trials.values().any(|other| other.digest == trial.digest) {
            return Err(EdgeError::RepeatedToken);
        }
        trials.insert(id.to_owned(), trial.clone());
        drop(trials);
        Ok(Edges { url: format!("http://{}", self.hall.at), token, trial, hall: self.hall.clone() })
    }
}

impl Edges {
    /// A port of its own for one trial, with a token nobody can guess.
    pub async fn open(id: &str, world: SharedWorld, seat: Seat) -> Result<Self, EdgeError> {
        Server::open().await?.admit(id, world, seat, Token::random()?)
    }

    /// Streamable HTTP; the token goes into `Authorization: Bearer`.
    pub fn mcp_url(&self) -> String {
        format!("{}/mcp/{}", self.url, self.trial.id)
    }

    /// Ethereum JSON-RPC of one chain; the token is part of the address, as with public providers.
    pub fn rpc_url(&self, chain: u64) -> String {
        format!("{}/rpc/{}/{chain}", self.url, self.token.as_str())
    }

    /// Where the files of the world begin, with a slash at the end.
    pub fn pages_url(&self) -> String {
        format!("{}/pages/{}/", self.url, self.token.as_str())
    }
}

impl Drop for Edges {
    fn drop(&mut self) {
        self.trial.door.shut();
        self.hall.trials.write().remove(&self.trial.id);
    }
}

async fn accept(listener: TcpListener, at: SocketAddr, trials: Arc<Trials>) {
    // Dropped with this task, and all connections with it.
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            Some(_) = connections.join_next() => {}
            accepted = listener.accept(), if connections.len() < CONNECTIONS => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(converse(stream, at, trials.clone()));
                }
                // Out of file descriptors, most likely; a busy loop would not bring any back.
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            },
        }
    }
}

async fn converse(stream: TcpStream, at: SocketAddr, trials: Arc<Trials>) {
    let service = service_fn(move |request| {
        let trials = trials.clone();
        async move { Ok::<_, Infallible>(handle(request, at, &trials).await) }
    });
    let mut server = http1::Builder::new();
    server.timer(TokioTimer::new()).header_read_timeout(PATIENCE).max_buf_size(HEAD);
    // A client that breaks off or talks nonsense ends its own connection and nothing else.
    let _ = server.serve_connection(TokioIo::new(Impatient::new(stream)), service).await;
}

async fn handle(request: Request<Incoming>, at: SocketAddr, trials: &Trials) -> Answer {
    if let Err(refused) = http::at_home(at, request.uri(), request.headers()) {
        return refused.into();
    }
    let nothing = || refusal(StatusCode::NOT_FOUND, "there is nothing here");
    let path = request.uri().path().to_owned();
    let Some((edge, rest)) = path.strip_prefix('/').and_then(|path| path.split_once('/')) else { return nothing() };
    match edge {
        "mcp" => match bearer(request.headers()).and_then(|token| trials.with_id(rest, Token::digest(token))) {
            Some(trial) => mcp(&trial, request).await,
            None => unauthorized(),
        },
        "rpc" => match rest.split_once('/').and_then(|(token, chain)| Some((trials.with_token(token)?, chain.parse().ok()?))) {
            Some((trial, chain)) if request.method() == Method::POST => match http::body(request.into_body(), rpc::BODY).await {
                Ok(body) => trial.rpc.clone().answer(chain, body).await.as_ref().map_or_else(nothing, http::json),
                Err(refused) => refused.into(),
            },
            Some(_) => only("POST"),
            None => nothing(),
        },
        "pages" => match rest.split_once('/').and_then(|(token, page)| Some((trials.with_token(token)?, http::decoded(page)?))) {
            Some((trial, page)) if request.method() == Method::GET => pages::get(&trial, &page).await,
            Some(_) => only("GET"),
            None => nothing(),
        },
        _ => nothing(),
    }
}

async fn mcp(trial: &Trial, request: Request<Incoming>) -> Answer {
    let (head, body) = request.into_parts();
    match http::body(body, BODY).await {
        Ok(body) => trial.mcp.handle(Request::from_parts(head, Full::new(body))).await,
        Err(refused) => refused.into(),
    }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// The same for a missing token, a wrong one and a trial that does not exist: nobody learns which trials there are.
fn unauthorized() -> Answer {
    let mut answer = refusal(StatusCode::UNAUTHORIZED, "this needs the bearer token of this trial");
    answer.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    answer
}
