//! Transport for `http:` agents: each POST carries the full history, each response one move.

use super::agent_process::printable;
use super::message::AgentMessage;
use crate::secrets::SecretRedactor;
use crate::subjects::SubjectFault;
use model::transcript::LimitKind;
use reqwest::{Client, Response};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// Maximum size of one response.
const MAX_RESPONSE_BYTES: usize = 4 * 1024 * 1024;

#[derive(Debug)]
pub(super) struct HttpTransport {
    client: Client,
    url: String,
    secrets: SecretRedactor,
    sender: mpsc::Sender<Result<AgentMessage, SubjectFault>>,
    incoming: mpsc::Receiver<Result<AgentMessage, SubjectFault>>,
    request_task: Option<JoinHandle<()>>,
    connected: bool,
}

impl HttpTransport {
    pub(super) fn new(url: &str, secrets: SecretRedactor) -> Result<Self, SubjectFault> {
        let client = agent_client()?;
        let (sender, incoming) = mpsc::channel(4);
        Ok(Self { client, url: url.to_owned(), secrets, sender, incoming, request_task: None, connected: false })
    }

    pub(super) fn send(&mut self, message: Value) {
        let request = self.client.post(&self.url).header("content-type", "application/json").body(message.to_string());
        let (sender, connected, secrets) = (self.sender.clone(), self.connected, self.secrets.clone());
        self.request_task = Some(tokio::spawn(async move {
            let received = match request.send().await {
                Ok(response) => read_response(response, &secrets).await,
                // Never reachable: not evidence about the agent.
                Err(error) if error.is_connect() && !connected => {
                    Err(SubjectFault::Provider(format!("cannot connect to the agent: {}", root_cause(&error))))
                }
                Err(error) => Err(SubjectFault::Crashed(format!("the connection failed: {}", root_cause(&error)))),
            };
            let _ = sender.send(received).await;
        }));
    }

    pub(super) async fn receive(&mut self) -> Result<AgentMessage, SubjectFault> {
        let received = self.incoming.recv().await;
        self.connected = true;
        received.unwrap_or_else(|| Err(SubjectFault::Harness("the HTTP transport is closed".to_owned())))
    }
}

impl Drop for HttpTransport {
    fn drop(&mut self) {
        if let Some(task) = &self.request_task {
            task.abort();
        }
    }
}

/// Returns a client for services that are agents.
pub(super) fn agent_client() -> Result<Client, SubjectFault> {
    // Building a client without a provider panics. The first to install one wins, so this never overrides `main`.
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        let _ = rustls::crypto::ring::default_provider().install_default();
    }
    // No proxy and no redirects: only the configured host is contacted. No pool: a stale connection of another trial must not look like
    // a fault of this agent.
    let client = Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none()).pool_max_idle_per_host(0).build();
    client.map_err(|error| SubjectFault::Harness(format!("cannot create an HTTP client: {error}")))
}

async fn read_response(response: Response, secrets: &SecretRedactor) -> Result<AgentMessage, SubjectFault> {
    let status = response.status();
    if status.is_server_error() {
        return Err(SubjectFault::Crashed(format!("the agent answered with status {}", status.as_u16())));
    }
    if !status.is_success() {
        return Err(SubjectFault::Malformed(format!("the agent answered with status {}", status.as_u16())));
    }
    let body = read_body(response).await?;
    match AgentMessage::parse(&body) {
        Ok(AgentMessage { next_move: None, .. }) => Err(SubjectFault::Malformed("the response has no move".to_owned())),
        Ok(said) => Ok(said),
        Err(why) => {
            let shown = printable(&secrets.redact(&String::from_utf8_lossy(&body)), 80);
            Err(SubjectFault::Malformed(format!("\"{shown}\": {why}")))
        }
    }
}

/// Reads a whole response of bounded size.
pub(super) async fn read_body(mut response: Response) -> Result<Vec<u8>, SubjectFault> {
    let mut body = vec![];
    loop {
        match response.chunk().await {
            Ok(None) => return Ok(body),
            Ok(Some(chunk)) if body.len() + chunk.len() > MAX_RESPONSE_BYTES => return Err(SubjectFault::OverLimit(LimitKind::Output)),
            Ok(Some(chunk)) => body.extend_from_slice(&chunk),
            Err(error) => return Err(SubjectFault::Crashed(format!("the connection failed: {}", root_cause(&error)))),
        }
    }
}

/// Returns the innermost error; the outer ones only repeat the address.
pub(super) fn root_cause(error: &reqwest::Error) -> String {
    let mut inner: &dyn std::error::Error = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    printable(&inner.to_string(), 200)
}
