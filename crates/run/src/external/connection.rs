//! The three ways to talk to a finished agent, with one thing in common: it is told something, and its next move comes.

use super::AgentHost;
use super::agent_process::{AgentHome, AgentProcess};
use super::http_transport::HttpTransport;
use super::launch::{LaunchContext, PROMPT_PLACEHOLDER};
use super::message::{self, AgentMessage};
use super::one_shot_transport::OneShotTransport;
use super::stdio_transport::StdioTransport;
use crate::subjects::SubjectFault;
use model::transcript::Move;
use model::view::{AgentContext, Observation};
use model::{AgentEndpoint, ExternalAgent, ProviderKind};
use serde_json::{Value, json};
use world::endpoints::TrialEndpoints;

#[derive(Debug)]
pub(super) struct AgentConnection {
    agent: ExternalAgent,
    kind: ProviderKind,
    chains: Vec<u64>,
    hello: Value,
    /// What it has heard so far, as values and in words.
    heard: Vec<Value>,
    dialogue: Vec<(&'static str, String)>,
    home: Option<AgentHome>,
    state: ConnectionState,
}

#[derive(Debug)]
enum ConnectionState {
    Closed,
    Stdio(Box<StdioTransport>),
    Http(Box<HttpTransport>),
    OneShot(Box<OneShotTransport>),
}

impl AgentConnection {
    pub(super) fn new(agent: &ExternalAgent, kind: ProviderKind, seat: &AgentContext, edges: &TrialEndpoints, chains: Vec<u64>) -> Self {
        let hello = message::hello(seat, edges, &chains);
        Self { agent: agent.clone(), kind, chains, hello, heard: vec![], dialogue: vec![], home: None, state: ConnectionState::Closed }
    }

    /// It is the agent's turn: everything that reached it since its last move.
    pub(super) fn deliver(&mut self, host: &AgentHost, edges: &TrialEndpoints, heard: &[Observation]) -> Result<(), SubjectFault> {
        let news: Vec<Value> = heard.iter().map(message::observation_json).collect();
        let first = self.heard.is_empty();
        self.heard.extend(news.iter().cloned());
        if self.kind == ProviderKind::Http {
            return self.send_http(news.len());
        }
        if self.kind == ProviderKind::Process {
            let message = if first { json!({ "hello": self.hello, "news": news }) } else { json!({ "news": news }) };
            return self.send_stdio(host, edges, &message);
        }
        self.dialogue.extend(heard.iter().filter_map(message::observation_text).map(|words| ("User", words)));
        self.start_one_shot(host, edges)
    }

    /// Whether it is at work, as far as that can be seen; a service cannot be looked into.
    pub(super) fn is_busy(&self) -> bool {
        match &self.state {
            ConnectionState::Closed | ConnectionState::Http(_) => false,
            ConnectionState::Stdio(process) => process.child().is_busy(),
            ConnectionState::OneShot(program) => program.child().is_busy(),
        }
    }

    /// May be dropped and asked again.
    pub(super) async fn receive(&mut self) -> Result<AgentMessage, SubjectFault> {
        match &mut self.state {
            ConnectionState::Closed => std::future::pending().await,
            ConnectionState::Stdio(process) => process.receive().await,
            ConnectionState::Http(http) => http.receive().await,
            ConnectionState::OneShot(program) => {
                let said = program.receive().await?;
                // The next turn starts another.
                self.state = ConnectionState::Closed;
                if let Some(Move::Say(words)) = &said.next_move {
                    self.dialogue.push(("Assistant", words.clone()));
                }
                Ok(said)
            }
        }
    }

    fn send_http(&mut self, new: usize) -> Result<(), SubjectFault> {
        let AgentEndpoint::Url(url) = &self.agent.endpoint else { return Err(missing_endpoint()) };
        if matches!(self.state, ConnectionState::Closed) {
            self.state = ConnectionState::Http(Box::new(HttpTransport::new(url)?));
        }
        // Everything every time, so that an agent need not remember; the token tells conversations apart.
        let message = json!({ "hello": self.hello, "heard": self.heard, "new": new });
        if let ConnectionState::Http(http) = &mut self.state {
            http.send(message);
        }
        Ok(())
    }

    fn send_stdio(&mut self, host: &AgentHost, edges: &TrialEndpoints, message: &Value) -> Result<(), SubjectFault> {
        if matches!(self.state, ConnectionState::Closed) {
            let (child, stdin, stdout) = self.spawn(host, edges, None)?;
            self.state = ConnectionState::Stdio(Box::new(StdioTransport::new(child, stdin, stdout)));
        }
        if let ConnectionState::Stdio(process) = &self.state {
            process.send(message);
        }
        Ok(())
    }

    fn start_one_shot(&mut self, host: &AgentHost, edges: &TrialEndpoints) -> Result<(), SubjectFault> {
        let prompt = match self.dialogue.as_slice() {
            [(_, only)] => only.clone(),
            all => all.iter().map(|(who, words)| format!("{who}: {words}")).collect::<Vec<_>>().join("\n\n"),
        };
        let (child, stdin, stdout) = self.spawn(host, edges, Some(&prompt))?;
        let in_arguments =
            matches!(&self.agent.endpoint, AgentEndpoint::Command(words) if words.iter().any(|word| word.contains(PROMPT_PLACEHOLDER)));
        let words = if in_arguments { String::new() } else { prompt };
        self.state = ConnectionState::OneShot(Box::new(OneShotTransport::new(child, stdin, stdout, words)));
        Ok(())
    }

    fn spawn(&mut self, host: &AgentHost, edges: &TrialEndpoints, prompt: Option<&str>) -> Result<SpawnedAgent, SubjectFault> {
        let AgentEndpoint::Command(command) = &self.agent.endpoint else { return Err(missing_endpoint()) };
        let failed = |what: &str, error: std::io::Error| SubjectFault::Harness(format!("{what}: {error}"));
        if self.home.is_none() {
            self.home = Some(AgentHome::new().map_err(|error| failed("no folder for the agent", error))?);
        }
        let Some(home) = &self.home else { return Err(missing_endpoint()) };
        let place = LaunchContext { edges, chains: &self.chains, home, allowed: &self.agent.env };
        let config = place.write_mcp_config().map_err(|error| failed("no folder for the agent", error))?;
        let filled = place.command(&host.environment, command, &config, prompt);
        let env = place.environment(&host.environment, &config);
        // Its token is as good a mark as any, and no other agent has it.
        let started = AgentProcess::spawn(&filled, &env, edges.token.as_str(), &home.work_dir());
        started.map_err(|error| failed(&format!("{} cannot be started", command[0]), error))
    }
}

type SpawnedAgent = (AgentProcess, tokio::process::ChildStdin, tokio::process::ChildStdout);

fn missing_endpoint() -> SubjectFault {
    SubjectFault::Harness("the subject says neither how it is started nor where it answers".to_owned())
}
