//! Finished agents: programs and services of others. They are handed a task and act in our world; what they do is seen on our side.

mod child;
mod http;
mod line;
mod loan;
mod message;
mod orphans;
mod place;
mod process;
mod program;
mod session;

pub use loan::Lent;
pub use place::Surroundings;

use crate::clock::{Clock, Stopwatch};
use crate::limits::Used;
use crate::subjects::{Subject, SubjectFault};
use async_trait::async_trait;
use loan::Loan;
use model::seat::View;
use model::suite::Surface;
use model::transcript::{Limit, Move};
use model::{FinishedAgent, ProviderKind, SubjectFile};
use session::Session;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::OnceCell;
use world::edges::Server;

/// What all finished agents of a run share: one port, and what they may see of where we were started.
#[derive(Debug)]
pub struct Host {
    around: Surroundings,
    clock: Clock,
    port: OnceCell<Server>,
}

impl Host {
    pub fn new(around: Surroundings, clock: Clock) -> Self {
        Self { around, clock, port: OnceCell::new() }
    }

    async fn server(&self) -> Result<&Server, SubjectFault> {
        self.port.get_or_try_init(Server::open).await.map_err(|error| SubjectFault::Harness(error.to_string()))
    }
}

/// A finished agent in one trial. Where it delegates to an agent that nobody else plays, it is started once more for that seat.
#[derive(Debug)]
pub struct Finished {
    host: Arc<Host>,
    agent: FinishedAgent,
    kind: ProviderKind,
    loan: Loan,
    /// By depth: one for every seat it sits in.
    sessions: BTreeMap<u32, Session>,
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

impl Finished {
    /// Of the case it is given the kind of surface alone, and of the world what it may touch. `None` where the file describes no finished agent.
    pub fn new(host: Arc<Host>, file: &SubjectFile, surface: &Surface, world: &Lent) -> Option<Self> {
        let agent = file.finished.clone()?;
        let at_once = matches!(surface, Surface::Profile(_));
        let time = Duration::from_secs(file.limits.seconds);
        Some(Self { host, agent, kind: file.provider, loan: world.loan(), sessions: BTreeMap::new(), at_once, time, timing: None })
    }

    async fn play(&mut self, view: &View<'_>) -> Result<Move, SubjectFault> {
        // Whoever has handed its answer back is gone.
        self.sessions.retain(|depth, _| *depth <= view.depth);
        let session = match self.sessions.entry(view.depth) {
            Entry::Occupied(there) => there.into_mut(),
            Entry::Vacant(free) => free.insert(Session::open(&self.host, &self.loan, &self.agent, self.kind, view).await?),
        };
        let next = session.next(&self.host, &self.loan, view.heard, self.at_once).await?;
        if view.depth > 0 && matches!(next, Move::Say(_)) {
            self.sessions.remove(&view.depth);
        }
        Ok(next)
    }
}

#[async_trait]
impl Subject for Finished {
    async fn next(&mut self, view: &View<'_>) -> Result<Move, SubjectFault> {
        let start = || AgentTiming { since_start: self.host.clock.stopwatch(), last_move: Duration::ZERO };
        let timing = *self.timing.get_or_insert_with(start);
        let loan = self.loan.clone();
        loan.let_go();
        let left = self.time.saturating_sub(timing.since_start.elapsed());
        let next = tokio::time::timeout(left, self.play(view)).await;
        loan.take_back().await;
        match next {
            Ok(next) => {
                self.timing = Some(AgentTiming { last_move: timing.since_start.elapsed(), ..timing });
                next
            }
            // Silent for half of all the time it had: it will not come back.
            Err(_) if timing.last_move <= self.time / 2 => Err(SubjectFault::Hung),
            Err(_) => Err(SubjectFault::OverLimit(Limit::Time)),
        }
    }

    fn used(&self) -> Used {
        // Its time is real, so it is not part of what a replay could use again.
        Used::default()
    }
}
