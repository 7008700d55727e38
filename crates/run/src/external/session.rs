//! One seat taken by a finished agent: what it wishes over MCP and what it says on its line become moves; what it hears goes back.

use super::AgentHost;
use super::connection::AgentConnection;
use super::message::{self, AgentMessage};
use super::world_lease::WorldLease;
use crate::subjects::SubjectFault;
use model::transcript::{Move, ToolAnswer};
use model::view::{Observation, View};
use model::{EventKind, ExternalAgent, ProviderKind};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use world::endpoints::{TrialEndpoints, TrialToken};
use world::mcp::McpReply;
use world::mcp::serve::{AgentToolset, MoveOutcome, PendingMove, RelayServer};
use world::{ActingAgent, ChainAccess};

/// Wishes that wait; whoever wishes more has to wait before it is heard.
const MAX_PENDING_MOVES: usize = 64;
/// Where only the first move counts, calls that come this soon after each other were made at once: after so many looks at an agent that
/// waits, or so many at one that never does.
const POLL_INTERVAL: Duration = Duration::from_millis(25);
const MAX_IDLE_POLLS: u32 = 10;
const MAX_POLLS: u32 = 200;

#[derive(Debug)]
pub(super) struct AgentSession {
    // Dropped first: once the endpoints are shut, the agent can do nothing more.
    edges: TrialEndpoints,
    connection: AgentConnection,
    pending_moves: mpsc::Receiver<PendingMove>,
    deferred: VecDeque<PendingMove>,
    who: ActingAgent,
    delivered: usize,
    reply_target: ReplyTarget,
}

/// Who waits for what came of the last move.
#[derive(Debug)]
enum ReplyTarget {
    /// Nobody was told anything yet, or the agent said something on its line.
    Connection,
    /// Calls over MCP, in order, with what they wished.
    McpCalls(Vec<(Move, oneshot::Sender<MoveOutcome>)>),
}

impl AgentSession {
    pub(super) async fn open(
        host: &AgentHost,
        loan: &WorldLease,
        agent: &ExternalAgent,
        kind: ProviderKind,
        view: &View<'_>,
    ) -> Result<Self, SubjectFault> {
        let harness = |why: String| SubjectFault::Harness(why);
        let who = ActingAgent::new(&view.context.agent, view.depth);
        let seat = AgentToolset {
            who: who.clone(),
            tools: view.context.tools.clone(),
            delegates: view.context.delegates.clone(),
            skills: view.context.skills.clone(),
        };
        let (sender, wishes) = mpsc::channel(MAX_PENDING_MOVES);
        let relay = RelayServer::new(seat, message::instructions(view.context), sender).map_err(|error| harness(error.to_string()))?;
        let server = host.server().await?;
        let token = TrialToken::random().map_err(|error| harness(error.to_string()))?;
        // A name that says nothing: ids of trials and cases are not for agents.
        let id = TrialToken::random().map_err(|error| harness(error.to_string()))?;
        let edges = server.add_relayed_trial(id.as_str(), loan.world.clone(), relay, token).map_err(|error| harness(error.to_string()))?;
        let chains = ChainAccess::chain_ids(&*loan.world.lock().await);
        let line = AgentConnection::new(agent, kind, view.context, &edges, chains);
        Ok(Self {
            edges,
            connection: line,
            pending_moves: wishes,
            deferred: VecDeque::new(),
            who,
            delivered: 0,
            reply_target: ReplyTarget::Connection,
        })
    }

    /// Hands over what was heard and waits for the next move. `at_once`: only the first move with calls counts.
    pub(super) async fn next(
        &mut self,
        host: &AgentHost,
        loan: &WorldLease,
        heard: &[Observation],
        at_once: bool,
    ) -> Result<Move, SubjectFault> {
        let fresh = &heard[self.delivered.min(heard.len())..];
        self.delivered = heard.len();
        match std::mem::replace(&mut self.reply_target, ReplyTarget::Connection) {
            ReplyTarget::Connection => self.connection.deliver(host, &self.edges, fresh)?,
            ReplyTarget::McpCalls(wishes) => answer_mcp_calls(wishes, fresh),
        }
        loop {
            let said = match self.next_event().await {
                SessionEvent::McpMove(wish) if wish.answer.is_closed() => continue,
                SessionEvent::McpMove(wish) => return Ok(self.take_mcp_moves(wish, at_once).await),
                SessionEvent::Message(said) => said?,
            };
            let AgentMessage { next_move: does, claims } = said;
            for claim in claims {
                loan.world.lock().await.note(&self.who, EventKind::Claimed { what: Box::new(claim) });
            }
            if let Some(does) = does {
                return Ok(does);
            }
        }
    }

    async fn next_event(&mut self) -> SessionEvent {
        if let Some(wish) = self.deferred.pop_front() {
            return SessionEvent::McpMove(wish);
        }
        tokio::select! {
            // What was wished before something was said comes before it.
            biased;
            Some(wish) = self.pending_moves.recv() => SessionEvent::McpMove(wish),
            said = self.connection.receive() => SessionEvent::Message(said),
        }
    }

    /// What it wishes at the same time. Time counts only while it waits for us: one that has no processor yet is still speaking.
    async fn next_concurrent_move(&mut self) -> Option<PendingMove> {
        let mut idle = 0;
        for _ in 0..MAX_POLLS {
            match tokio::time::timeout(POLL_INTERVAL, self.pending_moves.recv()).await {
                Ok(wish) => return wish,
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
        let mut wishes = vec![first];
        while at_once
            && matches!(wishes[0].requested_move, Move::Call(_))
            && let Some(wish) = self.next_concurrent_move().await
        {
            if matches!(wish.requested_move, Move::Call(_)) { wishes.push(wish) } else { self.deferred.push_back(wish) }
        }
        let made = if wishes.len() == 1 {
            wishes[0].requested_move.clone()
        } else {
            Move::Call(
                wishes.iter().flat_map(|wish| if let Move::Call(calls) = &wish.requested_move { calls.clone() } else { vec![] }).collect(),
            )
        };
        self.reply_target = ReplyTarget::McpCalls(wishes.into_iter().map(|wish| (wish.requested_move, wish.answer)).collect());
        made
    }
}

enum SessionEvent {
    McpMove(PendingMove),
    Message(Result<AgentMessage, SubjectFault>),
}

/// Gives everybody who waits what came of its wish. Messages that arrived meanwhile go to the first.
fn answer_mcp_calls(wishes: Vec<(Move, oneshot::Sender<MoveOutcome>)>, heard: &[Observation]) {
    let letter = |heard: &Observation| match heard {
        Observation::Message { from, text } => Some(MoveOutcome::message_text(from, text)),
        Observation::User(_) | Observation::HandOver { .. } | Observation::Answer { .. } | Observation::Peer { .. } => None,
    };
    let mut besides: Vec<String> = heard.iter().filter_map(letter).collect();
    let mut came = heard.iter().filter(|heard| letter(heard).is_none());
    for (wants, sender) in wishes {
        let told = MoveOutcome { reply: reply_to(&wants, &mut came), messages: std::mem::take(&mut besides) };
        // Whoever hung up meanwhile has done it all the same.
        let _ = sender.send(told);
    }
}

fn reply_to<'h>(wants: &Move, came: &mut impl Iterator<Item = &'h Observation>) -> McpReply {
    if let Move::Report(_) = wants {
        return McpReply::Done(json!({ "reported": true }));
    }
    match (wants, came.next()) {
        (_, Some(Observation::Answer { answer: ToolAnswer::Result(value), .. })) => McpReply::Done(value.clone()),
        (_, Some(Observation::Answer { answer: ToolAnswer::Error { code, message }, .. })) => {
            McpReply::Failed(format!("{code}: {message}"))
        }
        (_, Some(Observation::Peer { said, .. })) => McpReply::Done(said.clone()),
        (Move::Activate { skill, .. }, Some(Observation::User(text))) => McpReply::Done(json!({ "activated": skill, "user": text })),
        (_, Some(Observation::User(text))) => McpReply::Done(Value::String(text.clone())),
        (_, Some(Observation::HandOver { .. } | Observation::Message { .. }) | None) => McpReply::Failed("nothing came of it".to_owned()),
    }
}
