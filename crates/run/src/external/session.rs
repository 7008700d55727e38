//! Session with one external agent: its MCP calls and protocol messages become [`Move`]s; results are sent back.

use super::AgentHost;
use super::connection::{AgentConnection, AgentProgram};
use super::message::{self, AgentMessage};
use super::operator_names::OperatorNames;
use super::world_lease::WorldLease;
use crate::secrets::SecretRedactor;
use crate::subjects::SubjectFault;
use model::transcript::{Move, ToolAnswer};
use model::view::{Observation, View};
use model::{ContentHash, EventKind};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use world::endpoints::{TrialEndpoints, TrialToken};
use world::mcp::McpReply;
use world::mcp::serve::{AgentToolset, MoveOutcome, PendingMove, RelayServer};
use world::{ActingAgent, ChainAccess};

/// Maximum number of queued MCP moves; further calls block.
const MAX_PENDING_MOVES: usize = 64;
/// Collection of parallel calls, for cases in which only the first move counts. Ends after [`MAX_IDLE_POLLS`] polls of an idle agent or
/// [`MAX_POLLS`] polls of a busy one.
const POLL_INTERVAL: Duration = Duration::from_millis(25);
const MAX_IDLE_POLLS: u32 = 10;
const MAX_POLLS: u32 = 200;

#[derive(Debug)]
pub(super) struct AgentSession {
    // Dropped first: without endpoints the agent cannot act any more.
    edges: TrialEndpoints,
    connection: AgentConnection,
    pending_moves: mpsc::Receiver<PendingMove>,
    deferred: VecDeque<PendingMove>,
    who: ActingAgent,
    delivered: usize,
    names: OperatorNames,
    secrets: SecretRedactor,
    reply_target: ReplyTarget,
}

/// Recipient of the result of the last move.
#[derive(Debug)]
enum ReplyTarget {
    /// Agent connection: at the start, or after a protocol message.
    Connection,
    /// Pending MCP calls in order, with their moves.
    McpCalls(Vec<(Move, oneshot::Sender<MoveOutcome>)>),
}

impl AgentSession {
    pub(super) async fn open(
        host: &AgentHost,
        lease: &WorldLease,
        trial: &ContentHash,
        program: &AgentProgram,
        view: &View<'_>,
    ) -> Result<Self, SubjectFault> {
        let harness = |why: String| SubjectFault::Harness(why);
        let who = ActingAgent::new(&view.context.agent, view.depth);
        let toolset = AgentToolset {
            agent: who.clone(),
            tools: view.context.tools.clone(),
            delegates: view.context.delegates.clone(),
            skills: view.context.skills.clone(),
        };
        let (sender, pending_moves) = mpsc::channel(MAX_PENDING_MOVES);
        let world = lease.world.lock().await;
        let (names, chains) = (OperatorNames(world.renamed_operator()), ChainAccess::chain_ids(&*world));
        drop(world);
        let relay =
            RelayServer::new(toolset, names.text(view.context.instructions()), sender).map_err(|error| harness(error.to_string()))?;
        let server = host.server().await?;
        let token = TrialToken::random().map_err(|error| harness(error.to_string()))?;
        // Random name, because agents must not see ids of trials and cases.
        let id = TrialToken::random().map_err(|error| harness(error.to_string()))?;
        let edges = server.add_relayed_trial(id.as_str(), lease.world.clone(), relay, token).map_err(|error| harness(error.to_string()))?;
        let opaque_trial = host.trial_key.id_of(trial).await.map_err(|error| harness(error.to_string()))?;
        let hello = names.value(message::hello(&opaque_trial, view.context, &edges, &chains));
        let connection = AgentConnection::new(program, hello, chains);
        let (deferred, reply_target) = (VecDeque::new(), ReplyTarget::Connection);
        let secrets = program.secrets().clone();
        Ok(Self { edges, connection, pending_moves, deferred, who, delivered: 0, names, secrets, reply_target })
    }

    /// Delivers new observations and waits for the next move. With `at_once`, parallel calls become one move.
    pub(super) async fn next(
        &mut self,
        host: &AgentHost,
        lease: &WorldLease,
        observations: &[Observation],
        at_once: bool,
    ) -> Result<Move, SubjectFault> {
        let fresh = self.names.observations(&observations[self.delivered.min(observations.len())..]);
        let fresh = fresh.as_ref();
        self.delivered = observations.len();
        match std::mem::replace(&mut self.reply_target, ReplyTarget::Connection) {
            ReplyTarget::Connection => self.connection.deliver(host, &self.edges, fresh).await?,
            ReplyTarget::McpCalls(calls) => answer_mcp_calls(calls, fresh),
        }
        loop {
            let said = match self.next_event().await {
                SessionEvent::McpMove(pending) if pending.outcome_sender.is_closed() => continue,
                SessionEvent::McpMove(pending) => {
                    let chosen = self.take_mcp_moves(pending, at_once).await;
                    return self.redact(self.names.chosen_move(chosen));
                }
                SessionEvent::Message(said) => said?,
            };
            let AgentMessage { next_move, claims } = said;
            for claim in claims {
                let claim = self.redact(self.names.claim(claim))?;
                lease.world.lock().await.note(&self.who, EventKind::Claimed { what: Box::new(claim) });
            }
            if let Some(next_move) = next_move {
                return self.redact(self.names.chosen_move(next_move));
            }
        }
    }

    /// Removes the secrets that the agent was given from what it does and says.
    fn redact<T: Serialize + DeserializeOwned>(&self, item: T) -> Result<T, SubjectFault> {
        self.secrets.redact_item(item).map_err(|error| SubjectFault::Malformed(error.to_string()))
    }

    async fn next_event(&mut self) -> SessionEvent {
        if let Some(pending) = self.deferred.pop_front() {
            return SessionEvent::McpMove(pending);
        }
        tokio::select! {
            // MCP calls made before a protocol message come before it.
            biased;
            Some(pending) = self.pending_moves.recv() => SessionEvent::McpMove(pending),
            said = self.connection.receive() => SessionEvent::Message(said),
        }
    }

    /// Waits for another parallel MCP call. Only polls of an idle agent count, since a busy one may still send calls.
    async fn next_concurrent_move(&mut self) -> Option<PendingMove> {
        let mut idle = 0;
        for _ in 0..MAX_POLLS {
            match tokio::time::timeout(POLL_INTERVAL, self.pending_moves.recv()).await {
                Ok(pending) => return pending,
                Err(_) if self.connection.is_busy() => idle = 0,
                Err(_) => idle += 1,
            }
            if idle == MAX_IDLE_POLLS {
                break;
            }
        }
        None
    }

    async fn take_mcp_moves(&mut self, first: PendingMove, at_once: bool) -> Move {
        let mut taken = vec![first];
        while at_once
            && matches!(taken[0].requested_move, Move::Call(_))
            && let Some(pending) = self.next_concurrent_move().await
        {
            if matches!(pending.requested_move, Move::Call(_)) { taken.push(pending) } else { self.deferred.push_back(pending) }
        }
        let merged = if taken.len() == 1 {
            taken[0].requested_move.clone()
        } else {
            Move::Call(
                taken.iter().flat_map(|one| if let Move::Call(calls) = &one.requested_move { calls.clone() } else { vec![] }).collect(),
            )
        };
        self.reply_target = ReplyTarget::McpCalls(taken.into_iter().map(|one| (one.requested_move, one.outcome_sender)).collect());
        merged
    }
}

enum SessionEvent {
    McpMove(PendingMove),
    Message(Result<AgentMessage, SubjectFault>),
}

/// Sends each pending MCP call its result. Messages that arrived meanwhile go to the first call.
fn answer_mcp_calls(calls: Vec<(Move, oneshot::Sender<MoveOutcome>)>, observations: &[Observation]) {
    let message = |one: &Observation| match one {
        Observation::Message { from, text } => Some(MoveOutcome::message_text(from, text)),
        Observation::User(_) | Observation::HandOver { .. } | Observation::Answer { .. } | Observation::Peer { .. } => None,
    };
    let mut messages: Vec<String> = observations.iter().filter_map(message).collect();
    let mut results = observations.iter().filter(|one| message(one).is_none());
    for (requested, sender) in calls {
        let outcome = MoveOutcome { reply: reply_to(&requested, &mut results), messages: std::mem::take(&mut messages) };
        // The move counts even if the client has disconnected.
        let _ = sender.send(outcome);
    }
}

fn reply_to<'h>(requested: &Move, results: &mut impl Iterator<Item = &'h Observation>) -> McpReply {
    if let Move::Report(_) = requested {
        return McpReply::Done(json!({ "reported": true }));
    }
    match (requested, results.next()) {
        (_, Some(Observation::Answer { answer: ToolAnswer::Result(value), .. })) => McpReply::Done(value.clone()),
        (_, Some(Observation::Answer { answer: ToolAnswer::Error { code, message }, .. })) => {
            McpReply::Failed(format!("{code}: {message}"))
        }
        (_, Some(Observation::Peer { said, .. })) => McpReply::Done(said.clone()),
        (Move::Activate { skill, .. }, Some(Observation::User(text))) => McpReply::Done(json!({ "activated": skill, "user": text })),
        (_, Some(Observation::User(text))) => McpReply::Done(Value::String(text.clone())),
        (_, Some(Observation::HandOver { .. } | Observation::Message { .. }) | None) => {
            McpReply::Failed("the call returned no result".to_owned())
        }
    }
}
