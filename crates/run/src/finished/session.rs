//! One seat taken by a finished agent: what it wishes over MCP and what it says on its line become moves; what it hears goes back.

use super::Host;
use super::line::Line;
use super::loan::Loan;
use super::message::{self, Said};
use crate::subjects::SubjectFault;
use model::seat::{Heard, View};
use model::transcript::{Move, ToolAnswer};
use model::{FinishedAgent, Happened, ProviderKind};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use world::edges::{Edges, Token};
use world::mcp::Reply;
use world::mcp::serve::{MoveOutcome, PendingMove, RelayServer, Seat};
use world::{ChainAccess, Who};

/// Wishes that wait; whoever wishes more has to wait before it is heard.
const WISHES: usize = 64;
/// Where only the first move counts, calls that come this soon after each other were made at once: after so many looks at an agent that
/// waits, or so many at one that never does.
const LOOK: Duration = Duration::from_millis(25);
const IDLE_LOOKS: u32 = 10;
const LOOKS: u32 = 200;

#[derive(Debug)]
pub(super) struct Session {
    // Dropped first: once the endpoints are shut, the agent can do nothing more.
    edges: Edges,
    line: Line,
    wishes: mpsc::Receiver<PendingMove>,
    later: VecDeque<PendingMove>,
    who: Who,
    told: usize,
    waits: Waits,
}

/// Who waits for what came of the last move.
#[derive(Debug)]
enum Waits {
    /// Nobody was told anything yet, or the agent said something on its line.
    Line,
    /// Calls over MCP, in order, with what they wished.
    Mcp(Vec<(Move, oneshot::Sender<MoveOutcome>)>),
}

impl Session {
    pub(super) async fn open(
        host: &Host,
        loan: &Loan,
        agent: &FinishedAgent,
        kind: ProviderKind,
        view: &View<'_>,
    ) -> Result<Self, SubjectFault> {
        let harness = |why: String| SubjectFault::Harness(why);
        let who = Who::new(&view.seat.agent, view.depth);
        let seat = Seat {
            who: who.clone(),
            tools: view.seat.tools.clone(),
            delegates: view.seat.delegates.clone(),
            skills: view.seat.skills.clone(),
        };
        let (sender, wishes) = mpsc::channel(WISHES);
        let relay = RelayServer::new(seat, message::instructions(view.seat), sender).map_err(|error| harness(error.to_string()))?;
        let server = host.server().await?;
        let token = Token::random().map_err(|error| harness(error.to_string()))?;
        // A name that says nothing: ids of trials and cases are not for agents.
        let id = Token::random().map_err(|error| harness(error.to_string()))?;
        let edges = server.admit_relayed(id.as_str(), loan.world.clone(), relay, token).map_err(|error| harness(error.to_string()))?;
        let chains = ChainAccess::chain_ids(&*loan.world.lock().await);
        let line = Line::new(agent, kind, view.seat, &edges, chains);
        Ok(Self { edges, line, wishes, later: VecDeque::new(), who, told: 0, waits: Waits::Line })
    }

    /// Hands over what was heard and waits for the next move. `at_once`: only the first move with calls counts.
    pub(super) async fn next(&mut self, host: &Host, loan: &Loan, heard: &[Heard], at_once: bool) -> Result<Move, SubjectFault> {
        let fresh = &heard[self.told.min(heard.len())..];
        self.told = heard.len();
        match std::mem::replace(&mut self.waits, Waits::Line) {
            Waits::Line => self.line.tell(host, &self.edges, fresh)?,
            Waits::Mcp(wishes) => answer(wishes, fresh),
        }
        loop {
            let said = match self.next_wish().await {
                Next::Wish(wish) if wish.answer.is_closed() => continue,
                Next::Wish(wish) => return Ok(self.wished(wish, at_once).await),
                Next::Said(said) => said?,
            };
            let Said { does, claims } = said;
            for claim in claims {
                loan.world.lock().await.note(&self.who, Happened::Claimed { what: Box::new(claim) });
            }
            if let Some(does) = does {
                return Ok(does);
            }
        }
    }

    async fn next_wish(&mut self) -> Next {
        if let Some(wish) = self.later.pop_front() {
            return Next::Wish(wish);
        }
        tokio::select! {
            // What was wished before something was said comes before it.
            biased;
            Some(wish) = self.wishes.recv() => Next::Wish(wish),
            said = self.line.hear() => Next::Said(said),
        }
    }

    /// What it wishes at the same time. Time counts only while it waits for us: one that has no processor yet is still speaking.
    async fn another(&mut self) -> Option<PendingMove> {
        let mut idle = 0;
        for _ in 0..LOOKS {
            match tokio::time::timeout(LOOK, self.wishes.recv()).await {
                Ok(wish) => return wish,
                Err(_) if self.line.is_busy() => idle = 0,
                Err(_) => idle += 1,
            }
            if idle == IDLE_LOOKS {
                break;
            }
        }
        None
    }

    async fn wished(&mut self, first: PendingMove, at_once: bool) -> Move {
        let mut wishes = vec![first];
        while at_once
            && matches!(wishes[0].wants, Move::Call(_))
            && let Some(wish) = self.another().await
        {
            if matches!(wish.wants, Move::Call(_)) { wishes.push(wish) } else { self.later.push_back(wish) }
        }
        let made = if wishes.len() == 1 {
            wishes[0].wants.clone()
        } else {
            Move::Call(wishes.iter().flat_map(|wish| if let Move::Call(calls) = &wish.wants { calls.clone() } else { vec![] }).collect())
        };
        self.waits = Waits::Mcp(wishes.into_iter().map(|wish| (wish.wants, wish.answer)).collect());
        made
    }
}

enum Next {
    Wish(PendingMove),
    Said(Result<Said, SubjectFault>),
}

/// Gives everybody who waits what came of its wish. Messages that arrived meanwhile go to the first.
fn answer(wishes: Vec<(Move, oneshot::Sender<MoveOutcome>)>, heard: &[Heard]) {
    let letter = |heard: &Heard| match heard {
        Heard::Message { from, text } => Some(MoveOutcome::message(from, text)),
        Heard::User(_) | Heard::HandOver { .. } | Heard::Answer { .. } | Heard::Peer { .. } => None,
    };
    let mut besides: Vec<String> = heard.iter().filter_map(letter).collect();
    let mut came = heard.iter().filter(|heard| letter(heard).is_none());
    for (wants, sender) in wishes {
        let told = MoveOutcome { reply: reply(&wants, &mut came), messages: std::mem::take(&mut besides) };
        // Whoever hung up meanwhile has done it all the same.
        let _ = sender.send(told);
    }
}

fn reply<'h>(wants: &Move, came: &mut impl Iterator<Item = &'h Heard>) -> Reply {
    if let Move::Report(_) = wants {
        return Reply::Done(json!({ "reported": true }));
    }
    match (wants, came.next()) {
        (_, Some(Heard::Answer { answer: ToolAnswer::Result(value), .. })) => Reply::Done(value.clone()),
        (_, Some(Heard::Answer { answer: ToolAnswer::Error { code, message }, .. })) => Reply::Failed(format!("{code}: {message}")),
        (_, Some(Heard::Peer { said, .. })) => Reply::Done(said.clone()),
        (Move::Activate { skill, .. }, Some(Heard::User(text))) => Reply::Done(json!({ "activated": skill, "user": text })),
        (_, Some(Heard::User(text))) => Reply::Done(Value::String(text.clone())),
        (_, Some(Heard::HandOver { .. } | Heard::Message { .. }) | None) => Reply::Failed("nothing came of it".to_owned()),
    }
}
