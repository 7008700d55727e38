//! Connection to an external agent (process, HTTP, MCP or A2A): delivers observations and receives its next message.

use super::AgentHost;
use super::a2a_transport::A2aTransport;
use super::agent_output::OutputMonitor;
use super::agent_process::{AgentHome, AgentProcess};
use super::http_transport::HttpTransport;
use super::launch::{LaunchContext, PROMPT_PLACEHOLDER};
use super::message::{self, AgentMessage};
use super::one_shot_transport::OneShotTransport;
use super::sandbox::{AgentStart, confinement};
use super::stdio_transport::StdioTransport;
use crate::secrets::SecretRedactor;
use crate::subjects::SubjectFault;
use launcher::{LaunchRequest, ResourceLimits};
use model::transcript::Move;
use model::view::Observation;
use model::{AgentEndpoint, ExternalAgent, ProviderKind};
use serde_json::{Value, json};
use std::io;
use std::sync::Arc;
use store::AgentOutput;
use world::endpoints::TrialEndpoints;

/// Agent of a trial. Clones share the knowledge whether it has been started.
#[derive(Debug, Clone)]
pub(super) struct AgentProgram {
    agent: ExternalAgent,
    kind: ProviderKind,
    monitor: Arc<OutputMonitor>,
}

impl AgentProgram {
    pub(super) fn new(agent: ExternalAgent, kind: ProviderKind, secrets: SecretRedactor) -> Self {
        Self { agent, kind, monitor: Arc::new(OutputMonitor::new(secrets)) }
    }

    /// Returns the secrets that the agent's moves may not repeat.
    pub(super) fn secrets(&self) -> &SecretRedactor {
        self.monitor.secrets()
    }

    /// Returns the output of the programs that were started for the agent.
    pub(super) fn output(&self) -> Option<AgentOutput> {
        self.monitor.output()
    }

    /// Returns the fault of a failed start. A program that ran in this trial may have removed itself, so later failures are its own.
    fn start_fault(&self, what: &str, error: &io::Error) -> SubjectFault {
        if self.monitor.has_started() {
            SubjectFault::Crashed(format!("it could not be started again: {error}"))
        } else {
            SubjectFault::Harness(format!("{what}: {error}"))
        }
    }
}

#[derive(Debug)]
pub(super) struct AgentConnection {
    program: AgentProgram,
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
    A2a(Box<A2aTransport>),
}

impl AgentConnection {
    pub(super) fn new(program: &AgentProgram, hello: Value, chains: Vec<u64>) -> Self {
        Self { program: program.clone(), chains, hello, heard: vec![], dialogue: vec![], home: None, state: ConnectionState::Closed }
    }

    /// Sends the observations since the agent's last move; starts the agent if needed.
    pub(super) async fn deliver(
        &mut self,
        host: &AgentHost,
        edges: &TrialEndpoints,
        observations: &[Observation],
    ) -> Result<(), SubjectFault> {
        let news: Vec<Value> = observations.iter().map(message::observation_json).collect();
        let first = self.heard.is_empty();
        self.heard.extend(news.iter().cloned());
        if self.program.kind == ProviderKind::Http {
            return self.send_http(news.len());
        }
        if self.program.kind == ProviderKind::Process {
            let message = if first { json!({ "hello": self.hello, "news": news }) } else { json!({ "news": news }) };
            return self.send_stdio(host, edges, &message).await;
        }
        if self.program.kind == ProviderKind::A2a {
            return self.send_a2a(observations, first);
        }
        self.dialogue.extend(observations.iter().filter_map(message::observation_text).map(|text| ("User", text)));
        self.start_one_shot(host, edges).await
    }

    /// Reports whether the agent's process is busy. Always false for services, which cannot be inspected.
    pub(super) fn is_busy(&self) -> bool {
        match &self.state {
            ConnectionState::Closed | ConnectionState::Http(_) | ConnectionState::A2a(_) => false,
            ConnectionState::Stdio(process) => process.child().is_busy(),
            ConnectionState::OneShot(program) => program.child().is_busy(),
        }
    }

    /// Receives the agent's next message. Cancel-safe.
    pub(super) async fn receive(&mut self) -> Result<AgentMessage, SubjectFault> {
        self.receive_raw().await.map_err(|fault| fault.map_text(|why| self.program.secrets().redact(&why).into_owned()))
    }

    async fn receive_raw(&mut self) -> Result<AgentMessage, SubjectFault> {
        match &mut self.state {
            ConnectionState::Closed => std::future::pending().await,
            ConnectionState::Stdio(process) => process.receive().await,
            ConnectionState::Http(http) => http.receive().await,
            ConnectionState::A2a(a2a) => a2a.receive().await,
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
        let AgentEndpoint::Url(url) = &self.program.agent.endpoint else { return Err(missing_endpoint()) };
        if matches!(self.state, ConnectionState::Closed) {
            self.state = ConnectionState::Http(Box::new(HttpTransport::new(url, self.program.secrets().clone())?));
        }
        // Each request has the full history, so that the agent can be stateless. The token identifies the conversation.
        let message = json!({ "hello": self.hello, "heard": self.heard, "new": new });
        if let ConnectionState::Http(http) = &mut self.state {
            http.send(message);
        }
        Ok(())
    }

    fn send_a2a(&mut self, observations: &[Observation], first: bool) -> Result<(), SubjectFault> {
        let AgentEndpoint::Url(url) = &self.program.agent.endpoint else { return Err(missing_endpoint()) };
        if matches!(self.state, ConnectionState::Closed) {
            self.state = ConnectionState::A2a(Box::new(A2aTransport::new(url, self.program.secrets().clone())?));
        }
        let texts: Vec<String> = observations.iter().filter_map(message::observation_text).collect();
        if let ConnectionState::A2a(a2a) = &mut self.state {
            a2a.send(texts.join("\n\n"), first.then(|| self.hello.clone()));
        }
        Ok(())
    }

    async fn send_stdio(&mut self, host: &AgentHost, edges: &TrialEndpoints, message: &Value) -> Result<(), SubjectFault> {
        if matches!(self.state, ConnectionState::Closed) {
            let (child, stdin, stdout) = self.start(host, edges, None).await?;
            self.state = ConnectionState::Stdio(Box::new(StdioTransport::new(child, stdin, stdout)));
        }
        match &mut self.state {
            ConnectionState::Stdio(process) => process.send(message),
            ConnectionState::Closed | ConnectionState::Http(_) | ConnectionState::OneShot(_) | ConnectionState::A2a(_) => Ok(()),
        }
    }

    async fn start_one_shot(&mut self, host: &AgentHost, edges: &TrialEndpoints) -> Result<(), SubjectFault> {
        let prompt = match self.dialogue.as_slice() {
            [(_, only)] => only.clone(),
            all => all.iter().map(|(who, text)| format!("{who}: {text}")).collect::<Vec<_>>().join("\n\n"),
        };
        let (child, stdin, stdout) = self.start(host, edges, Some(&prompt)).await?;
        let in_arguments = matches!(&self.program.agent.endpoint, AgentEndpoint::Command(words) if words.iter().any(|word| word.contains(PROMPT_PLACEHOLDER)));
        let input = if in_arguments { String::new() } else { prompt };
        self.state = ConnectionState::OneShot(Box::new(OneShotTransport::new(child, stdin, stdout, input)));
        Ok(())
    }

    async fn start(&mut self, host: &AgentHost, edges: &TrialEndpoints, prompt: Option<&str>) -> Result<SpawnedAgent, SubjectFault> {
        let agent = &self.program.agent;
        let AgentEndpoint::Command(command) = &agent.endpoint else { return Err(missing_endpoint()) };
        let folder_failed = |error| self.program.start_fault("cannot create the agent's folder", &error);
        let home = match self.home.take() {
            Some(home) => home,
            None => AgentHome::new().map_err(folder_failed)?,
        };
        let launch = LaunchContext { edges, chains: &self.chains, home: &home, allowed: &agent.env };
        let config = launch.write_mcp_config().map_err(folder_failed)?;
        let filled = launch.command(&host.environment, command, &config, prompt);
        let env = launch.environment(&host.environment, &config);
        let failed = |error| self.program.start_fault(&format!("cannot start {}", command[0]), &error);
        let port = launch.port().map_err(failed)?;
        let start = AgentStart { agent, command: &filled, env: &env, own_folder: home.root(), port };
        let confinement = confinement(&host.environment, &start).map_err(failed)?;
        let remove = Some(home.root().to_owned());
        let request = LaunchRequest { command: filled, remove, limits: ResourceLimits::AGENT, confinement };
        // The token is unique to this agent, so it also marks its processes.
        let monitor = self.program.monitor.clone();
        let started = AgentProcess::start(&request, env, edges.token.as_str(), &home.work_dir(), monitor).await.map_err(failed)?;
        self.home = Some(home);
        Ok(started)
    }
}

type SpawnedAgent = (AgentProcess, tokio::process::ChildStdin, tokio::process::ChildStdout);

fn missing_endpoint() -> SubjectFault {
    SubjectFault::Harness("the subject file has neither a command nor a URL".to_owned())
}
