//! Finished agents: programs and services of others. They are handed a task and act in our world; what they do is seen on our side.

mod agent_process;
mod connection;
mod http_transport;
mod launch;
mod message;
mod one_shot_transport;
mod orphans;
mod session;
mod stdio_transport;
mod world_lease;

pub use launch::HostEnvironment;
pub use world_lease::LeasedWorld;

use crate::clock::{Clock, Stopwatch};
use crate::limits::SubjectUsage;
use crate::subjects::{Subject, SubjectFault};
use async_trait::async_trait;
use model::suite::CaseSurface;
use model::transcript::{LimitKind, Move};
use model::view::View;
use model::{ExternalAgent, ProviderKind, SubjectFile};
use session::AgentSession;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::OnceCell;
use world::endpoints::EndpointServer;
use world_lease::WorldLease;

/// What all finished agents of a run share: one port, and what they may see of where we were started.
#[derive(Debug)]
pub struct AgentHost {
    environment: HostEnvironment,
    clock: Clock,
    port: OnceCell<EndpointServer>,
}

impl AgentHost {
    pub fn new(around: HostEnvironment, clock: Clock) -> Self {
        Self { environment: around, clock, port: OnceCell::new() }
    }

    async fn server(&self) -> Result<&EndpointServer, SubjectFault> {
        self.port.get_or_try_init(EndpointServer::open).await.map_err(|error| SubjectFault::Harness(error.to_string()))
    }
}

/// A finished agent in one trial. Where it delegates to an agent that nobody else plays, it is started once more for that seat.
#[derive(Debug)]
pub struct ExternalSubject {
    host: Arc<AgentHost>,
    agent: ExternalAgent,
    kind: ProviderKind,
    lease: WorldLease,
    /// By depth: one for every seat it sits in.
    sessions: BTreeMap<u32, AgentSession>,
    /// Only the first move that calls tools counts.
    at_once: bool,
    /// Real time that it may take: nothing else binds a foreign program.
    time: Duration,
    timing: Option<AgentTiming>,
}

/// Real time of one agent in one trial.
#[derive(Debug, Clone, Copy)]
struct AgentTiming {
    since_start: Stopwatch,
    /// Of its last move, since the start.
    last_move: Duration,
}

impl ExternalSubject {
    /// Of the case it is given the kind of surface alone, and of the world what it may touch. `None` where the file describes no finished agent.
    pub fn new(host: Arc<AgentHost>, file: &SubjectFile, surface: &CaseSurface, world: &LeasedWorld) -> Option<Self> {
        let agent = file.external.clone()?;
        let at_once = matches!(surface, CaseSurface::Profile(_));
        let time = Duration::from_secs(file.limits.seconds);
        Some(Self { host, agent, kind: file.provider, lease: world.lease(), sessions: BTreeMap::new(), at_once, time, timing: None })
    }

    async fn next_move(&mut self, view: &View<'_>) -> Result<Move, SubjectFault> {
        // Whoever has handed its answer back is gone.
        self.sessions.retain(|depth, _| *depth <= view.depth);
        let session = match self.sessions.entry(view.depth) {
            Entry::Occupied(there) => there.into_mut(),
            Entry::Vacant(free) => free.insert(AgentSession::open(&self.host, &self.lease, &self.agent, self.kind, view).await?),
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
        let start = || AgentTiming { since_start: self.host.clock.stopwatch(), last_move: Duration::ZERO };
        let timing = *self.timing.get_or_insert_with(start);
        let loan = self.lease.clone();
        loan.release();
        let left = self.time.saturating_sub(timing.since_start.elapsed());
        let next = tokio::time::timeout(left, self.next_move(view)).await;
        loan.reacquire().await;
        match next {
            Ok(next) => {
                self.timing = Some(AgentTiming { last_move: timing.since_start.elapsed(), ..timing });
                next
            }
            // Silent for half of all the time it had: it will not come back.
            Err(_) if timing.last_move <= self.time / 2 => Err(SubjectFault::Hung),
            Err(_) => Err(SubjectFault::OverLimit(LimitKind::Time)),
        }
    }

    fn usage(&self) -> SubjectUsage {
        // Its time is real, so it is not part of what a replay could use again.
        SubjectUsage::default()
    }
}
