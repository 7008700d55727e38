//! `http:` an agent behind an address: each POST carries all it has heard, each answer one move.

use super::agent_process::printable;
use super::message::AgentMessage;
use crate::subjects::SubjectFault;
use model::transcript::LimitKind;
use reqwest::{Client, Response};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// Bytes of one answer.
const MAX_RESPONSE_BYTES: usize = 4 * 1024 * 1024;

#[derive(Debug)]
pub(super) struct HttpTransport {
    client: Client,
    url: String,
    sender: mpsc::Sender<Result<AgentMessage, SubjectFault>>,
    incoming: mpsc::Receiver<Result<AgentMessage, SubjectFault>>,
    request_task: Option<JoinHandle<()>>,
    connected: bool,
}

impl HttpTransport {
    pub(super) fn new(url: &str) -> Result<Self, SubjectFault> {
        // Building a client without a provider panics. The first to install one wins, so this never overrides `main`.
        if rustls::crypto::CryptoProvider::get_default().is_none() {
            let _ = rustls::crypto::ring::default_provider().install_default();
        }
        // No proxy from the environment and no redirect: the user named this host and no other. No pool: a connection of another trial
        // says nothing about this one.
        let client = Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none()).pool_max_idle_per_host(0).build();
        let client = client.map_err(|error| SubjectFault::Harness(format!("no HTTP client: {error}")))?;
        let (sender, came) = mpsc::channel(4);
        Ok(Self { client, url: url.to_owned(), sender, incoming: came, request_task: None, connected: false })
    }

    pub(super) fn send(&mut self, message: Value) {
        let request = self.client.post(&self.url).header("content-type", "application/json").body(message.to_string());
        let (sender, met) = (self.sender.clone(), self.connected);
        self.request_task = Some(tokio::spawn(async move {
            let came = match request.send().await {
                Ok(response) => read_response(response).await,
                // Nobody was ever there: that says nothing about the agent.
                Err(error) if error.is_connect() && !met => {
                    Err(SubjectFault::Provider(format!("nobody answers at its address: {}", root_cause(&error))))
                }
                Err(error) => Err(SubjectFault::Crashed(format!("it broke off: {}", root_cause(&error)))),
            };
            let _ = sender.send(came).await;
        }));
    }

    pub(super) async fn receive(&mut self) -> Result<AgentMessage, SubjectFault> {
        let came = self.incoming.recv().await;
        self.connected = true;
        came.unwrap_or_else(|| Err(SubjectFault::Harness("the conversation is gone".to_owned())))
    }
}

impl Drop for HttpTransport {
    fn drop(&mut self) {
        if let Some(asking) = &self.request_task {
            asking.abort();
        }
    }
}

async fn read_response(mut response: Response) -> Result<AgentMessage, SubjectFault> {
    let status = response.status();
    if status.is_server_error() {
        return Err(SubjectFault::Crashed(format!("it answered with status {}", status.as_u16())));
    }
    if !status.is_success() {
        return Err(SubjectFault::Malformed(format!("it answered with status {}", status.as_u16())));
    }
    let mut body = vec![];
    loop {
        match response.chunk().await {
            Ok(None) => break,
            Ok(Some(chunk)) if body.len() + chunk.len() > MAX_RESPONSE_BYTES => return Err(SubjectFault::OverLimit(LimitKind::Output)),
            Ok(Some(chunk)) => body.extend_from_slice(&chunk),
            Err(error) => return Err(SubjectFault::Crashed(format!("it broke off: {}", root_cause(&error)))),
        }
    }
    match AgentMessage::parse(&body) {
        Ok(AgentMessage { next_move: None, .. }) => Err(SubjectFault::Malformed("it answered without a move".to_owned())),
        Ok(said) => Ok(said),
        Err(why) => {
            let shown = printable(&String::from_utf8_lossy(&body[..body.len().min(400)]), 80);
            Err(SubjectFault::Malformed(format!("\"{shown}\": {why}")))
        }
    }
}

/// The innermost reason; the outer ones only repeat the address.
fn root_cause(error: &reqwest::Error) -> String {
    let mut inner: &dyn std::error::Error = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    printable(&inner.to_string(), 200)
}
