//! External agents: programs and services that act on the trial's world through MCP and RPC endpoints. The world records their actions.

mod a2a_transport;
mod agent_output;
mod agent_process;
mod agent_timer;
mod chat_agent;
mod connection;
mod guard_client;
mod guard_monitor;
mod host_environment;
mod http_transport;
mod launch;
mod message;
mod one_shot_transport;
mod opaque_trial;
mod operator_names;
mod orphans;
mod sandbox;
mod scorer_program;
mod session;
mod stdio_transport;
mod world_lease;

pub use agent_output::telling_line;
pub(crate) use chat_agent::ChatAgent;
/// Parses a line of an agent, for fuzzers. Returns whether it is a message.
#[doc(hidden)]
pub fn is_agent_message(line: &[u8]) -> bool {
    message::AgentMessage::parse(line).is_ok()
}

/// Parses a body as the card or a reply of an A2A server and as answers of a guard, for fuzzers.
///
/// # Panics
/// If ids of a task are lost, or a guard that did not answer about every text is accepted.
#[doc(hidden)]
pub fn parse_any_agent_reply(body: &[u8]) {
    a2a_transport::parse_any(body);
    guard_client::parse_any(body);
}

pub use guard_client::{GuardClient, GuardEndpoint, GuardFault, GuardQuestion};
pub use guard_monitor::GuardMonitor;
pub use host_environment::{AgentSandbox, HostEnvironment};
pub use scorer_program::{ScorerCall, ScorerFault, ScorerHost};
pub use script::ScriptReply;
pub use world_lease::LeasedWorld;

use crate::clock::Clock;
use crate::limits::SubjectUsage;
use crate::secrets::{SecretRedactor, passed_variables};
use crate::subjects::{Subject, SubjectFault};
use agent_timer::AgentTimer;
use async_trait::async_trait;
use connection::AgentProgram;
use model::suite::CaseSurface;
use model::transcript::Move;
use model::view::View;
use model::{ContentHash, SubjectFile};
use opaque_trial::OpaqueTrialKey;
use session::AgentSession;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;
use std::time::Duration;
use store::AgentOutput;
use tokio::sync::OnceCell;
use world::endpoints::EndpointServer;
use world_lease::WorldLease;

/// State shared by all external agents of a run: the endpoint server and the host environment.
#[derive(Debug)]
pub struct AgentHost {
    environment: HostEnvironment,
    clock: Clock,
    secrets: SecretRedactor,
    port: OnceCell<EndpointServer>,
    trial_key: OpaqueTrialKey,
}

impl AgentHost {
    pub fn new(environment: HostEnvironment, clock: Clock) -> Self {
        Self { environment, clock, secrets: SecretRedactor::default(), port: OnceCell::new(), trial_key: OpaqueTrialKey::default() }
    }

    /// Sets the secrets of the run, which no output of an agent may repeat.
    #[must_use]
    pub fn with_secrets(self, secrets: SecretRedactor) -> Self {
        Self { secrets, ..self }
    }

    /// Returns the secrets of the run, with the variables that this subject is given.
    pub(crate) fn secrets_of(&self, file: &SubjectFile) -> SecretRedactor {
        let values: Vec<String> = passed_variables(file).filter_map(|name| (self.environment.variable)(name)).collect();
        self.secrets.including(values.iter().map(String::as_str))
    }

    /// Returns the timer of a subject for one trial.
    pub(crate) fn timer(&self, file: &SubjectFile) -> AgentTimer {
        AgentTimer::new(self.clock, Duration::from_secs(file.limits.seconds))
    }

    async fn server(&self) -> Result<&EndpointServer, SubjectFault> {
        self.port.get_or_try_init(EndpointServer::open).await.map_err(|error| SubjectFault::Harness(error.to_string()))
    }
}

/// External agent in one trial. If it delegates to an agent without another subject, a second instance plays that agent.
#[derive(Debug)]
pub struct ExternalSubject {
    host: Arc<AgentHost>,
    trial: ContentHash,
    program: AgentProgram,
    lease: WorldLease,
    /// Sessions by delegation depth.
    sessions: BTreeMap<u32, AgentSession>,
    /// Set if only the first move with tool calls counts.
    at_once: bool,
    timer: AgentTimer,
}

/// Time for the end of stderr to be read after the last move.
const STDERR_GRACE: Duration = Duration::from_millis(5);

impl ExternalSubject {
    /// Creates the subject. Returns `None` if the file does not describe an external agent.
    pub(crate) fn new(
        host: Arc<AgentHost>,
        trial: ContentHash,
        (file, secrets): (&SubjectFile, &SecretRedactor),
        surface: &CaseSurface,
        world: &LeasedWorld,
    ) -> Option<Self> {
        let agent = file.external.clone()?;
        let at_once = matches!(surface, CaseSurface::Profile(_));
        let timer = host.timer(file);
        let program = AgentProgram::new(agent, file.provider, secrets.clone());
        Some(Self { host, trial, program, lease: world.lease(), sessions: BTreeMap::new(), at_once, timer })
    }

    async fn next_move(&mut self, view: &View<'_>) -> Result<Move, SubjectFault> {
        // Delegated agents that have returned an answer are closed.
        self.sessions.retain(|depth, _| *depth <= view.depth);
        let session = match self.sessions.entry(view.depth) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => entry.insert(AgentSession::open(&self.host, &self.lease, &self.trial, &self.program, view).await?),
        };
        let next = session.next(&self.host, &self.lease, view.observations, self.at_once).await?;
        if view.depth > 0 && matches!(next, Move::Say(_)) {
            self.sessions.remove(&view.depth);
        }
        Ok(next)
    }
}

#[async_trait]
impl Subject for ExternalSubject {
    async fn next(&mut self, view: &View<'_>) -> Result<Move, SubjectFault> {
        let lease = self.lease.clone();
        lease.release();
        let mut timer = self.timer;
        let next = timer.limit(self.next_move(view)).await;
        self.timer = timer;
        lease.reacquire().await;
        next
    }

    async fn agent_output(&mut self) -> Option<AgentOutput> {
        self.program.output()?;
        tokio::time::sleep(STDERR_GRACE).await;
        self.program.output()
    }

    fn usage(&self) -> SubjectUsage {
        // Wall-clock time is not reproducible, so it is not reported as usage.
        SubjectUsage::default()
    }
}
