//! Connection to an external agent (process, HTTP or MCP): delivers observations and receives its next message.

use super::AgentHost;
use super::agent_process::{AgentHome, AgentProcess};
use super::http_transport::HttpTransport;
use super::launch::{LaunchContext, PROMPT_PLACEHOLDER};
use super::message::{self, AgentMessage};
use super::one_shot_transport::OneShotTransport;
use super::stdio_transport::StdioTransport;
use crate::subjects::SubjectFault;
use model::transcript::Move;
use model::view::Observation;
use model::{AgentEndpoint, ExternalAgent, ProviderKind};
use serde_json::{Value, json};
use world::endpoints::TrialEndpoints;

#[derive(Debug)]
pub(super) struct AgentConnection {
    agent: ExternalAgent,
    kind: ProviderKind,
    chains: Vec<u64>,
    hello: Value,
    /// Observations delivered so far as JSON; `dialogue` has them as text.
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
    pub(super) fn new(agent: &ExternalAgent, kind: ProviderKind, hello: Value, chains: Vec<u64>) -> Self {
        Self { agent: agent.clone(), kind, chains, hello, heard: vec![], dialogue: vec![], home: None, state: ConnectionState::Closed }
    }

    /// Sends the observations since the agent's last move; starts the agent if needed.
    pub(super) fn deliver(&mut self, host: &AgentHost, edges: &TrialEndpoints, observations: &[Observation]) -> Result<(), SubjectFault> {
        let news: Vec<Value> = observations.iter().map(message::observation_json).collect();
        let first = self.heard.is_empty();
        self.heard.extend(news.iter().cloned());
        if self.kind == ProviderKind::Http {
            return self.send_http(news.len());
        }
        if self.kind == ProviderKind::Process {
            let message = if first { json!({ "hello": self.hello, "news": news }) } else { json!({ "news": news }) };
            return self.send_stdio(host, edges, &message);
        }
        self.dialogue.extend(observations.iter().filter_map(message::observation_text).map(|text| ("User", text)));
        self.start_one_shot(host, edges)
    }

    /// Reports whether the agent's process is busy. Always false for HTTP services, which cannot be inspected.
    pub(super) fn is_busy(&self) -> bool {
        match &self.state {
            ConnectionState::Closed | ConnectionState::Http(_) => false,
            ConnectionState::Stdio(process) => process.child().is_busy(),
            ConnectionState::OneShot(program) => program.child().is_busy(),
        }
    }

    /// Receives the agent's next message. Cancel-safe.
    pub(super) async fn receive(&mut self) -> Result<AgentMessage, SubjectFault> {
        match &mut self.state {
            ConnectionState::Closed => std::future::pending().await,
            ConnectionState::Stdio(process) => process.receive().await,
            ConnectionState::Http(http) => http.receive().await,
            ConnectionState::OneShot(program) => {
                let said = program.receive().await?;
                // Each turn starts a new process.
                self.state = ConnectionState::Closed;
                if let Some(Move::Say(text)) = &said.next_move {
                    self.dialogue.push(("Assistant", text.clone()));
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
        // Each request has the full history, so that the agent can be stateless. The token identifies the conversation.
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
            all => all.iter().map(|(who, text)| format!("{who}: {text}")).collect::<Vec<_>>().join("\n\n"),
        };
        let (child, stdin, stdout) = self.spawn(host, edges, Some(&prompt))?;
        let in_arguments =
            matches!(&self.agent.endpoint, AgentEndpoint::Command(words) if words.iter().any(|word| word.contains(PROMPT_PLACEHOLDER)));
        let input = if in_arguments { String::new() } else { prompt };
        self.state = ConnectionState::OneShot(Box::new(OneShotTransport::new(child, stdin, stdout, input)));
        Ok(())
    }

    fn spawn(&mut self, host: &AgentHost, edges: &TrialEndpoints, prompt: Option<&str>) -> Result<SpawnedAgent, SubjectFault> {
        let AgentEndpoint::Command(command) = &self.agent.endpoint else { return Err(missing_endpoint()) };
        let failed = |what: &str, error: std::io::Error| SubjectFault::Harness(format!("{what}: {error}"));
        if self.home.is_none() {
            self.home = Some(AgentHome::new().map_err(|error| failed("cannot create the agent's folder", error))?);
        }
        let Some(home) = &self.home else { return Err(missing_endpoint()) };
        let launch = LaunchContext { edges, chains: &self.chains, home, allowed: &self.agent.env };
        let config = launch.write_mcp_config().map_err(|error| failed("cannot create the agent's folder", error))?;
        let filled = launch.command(&host.environment, command, &config, prompt);
        let env = launch.environment(&host.environment, &config);
        // The token is unique to this agent, so it also marks its processes.
        let started = AgentProcess::spawn(&filled, &env, edges.token.as_str(), &home.work_dir());
        started.map_err(|error| failed(&format!("cannot start {}", command[0]), error))
    }
}

type SpawnedAgent = (AgentProcess, tokio::process::ChildStdin, tokio::process::ChildStdout);

fn missing_endpoint() -> SubjectFault {
    SubjectFault::Harness("the subject file has neither a command nor a URL".to_owned())
}
