//! One trial: move, world, event, until it ends. The driver is given the brief and nothing else of the case.

use crate::seat::{Heard, Seat, View};
use crate::subjects::{Subject, SubjectFault};
use model::suite::{Brief, Surface, Talk};
use model::transcript::{Culprit, Decision, Limit, Move, ToolCall};
use model::{Ending, Event, Happened, SubjectLimits, Workspace};
use serde_json::{Map, Value, json};
use std::collections::VecDeque;
use world::{Who, World};

/// When a trial is cut off.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    pub moves: u64,
    pub calls: u64,
    pub depth: usize,
}

impl From<SubjectLimits> for Limits {
    fn from(limits: SubjectLimits) -> Self {
        // A turn of the conversation may take several moves; depth only stops runaway recursion, the rule of three hops is scored.
        Self { moves: limits.turns.saturating_mul(8), calls: limits.calls, depth: 8 }
    }
}

/// Plays one trial to its end.
pub async fn drive(
    workspace: &Workspace,
    brief: &Brief,
    subject: &mut dyn Subject,
    world: &mut dyn World,
    limits: Limits,
) -> (Vec<Event>, Ending) {
    let mut trial = match Trial::open(workspace, brief, world, limits) {
        Ok(trial) => trial,
        Err(ending) => return (vec![], ending),
    };
    let mut moves = 0;
    let ending = loop {
        if moves >= limits.moves {
            break Ending::OverLimit { limit: Limit::Turns };
        }
        moves += 1;
        let Some(view) = trial.view() else { break Ending::Finished };
        let next = match subject.next(&view).await {
            Ok(next) => next,
            Err(SubjectFault::Crashed(why)) => break Ending::Crashed { why },
            Err(SubjectFault::Provider(why)) => break Ending::Aborted { by: Culprit::Provider, why },
        };
        trial.world.think();
        if let Some(ending) = trial.step(next).await {
            break ending;
        }
        trial.post_arrives();
    };
    (trial.world.take_events(), ending)
}

struct Frame {
    seat: Seat,
    heard: Vec<Heard>,
}

struct Trial<'t> {
    workspace: &'t Workspace,
    surface: &'t Surface,
    world: &'t mut dyn World,
    limits: Limits,
    frames: Vec<Frame>,
    turns: VecDeque<String>,
}

impl<'t> Trial<'t> {
    fn open(workspace: &'t Workspace, brief: &'t Brief, world: &'t mut dyn World, limits: Limits) -> Result<Self, Ending> {
        let turns = match &brief.talk {
            Talk::Turns(turns) => turns.iter().map(|turn| turn.value.clone()).collect(),
            Talk::Persona(_) => {
                let why = "this version plays written turns only, not personas".to_owned();
                return Err(Ending::Aborted { by: Culprit::Simulator, why });
            }
        };
        let mut trial = Self { workspace, surface: &brief.surface, world, limits, frames: vec![], turns };
        trial.sit(Seat::of(workspace, brief), vec![]);
        trial.user_speaks();
        trial.post_arrives();
        Ok(trial)
    }

    fn view(&self) -> Option<View<'_>> {
        let frame = self.frames.last()?;
        Some(View { seat: &frame.seat, depth: self.depth(), heard: &frame.heard })
    }

    fn depth(&self) -> u32 {
        u32::try_from(self.frames.len().saturating_sub(1)).unwrap_or(u32::MAX)
    }

    /// Somebody takes a seat and sees its tools as this world shows them.
    fn sit(&mut self, mut seat: Seat, heard: Vec<Heard>) {
        let depth = u32::try_from(self.frames.len()).unwrap_or(u32::MAX);
        seat.tools = self.world.shown(&Who::new(&seat.agent, depth), seat.tools);
        self.frames.push(Frame { seat, heard });
    }

    fn who(&self) -> Who {
        Who::new(self.frames.last().map(|frame| frame.seat.agent.as_str()).unwrap_or_default(), self.depth())
    }

    fn note(&mut self, happened: Happened) {
        let who = self.who();
        self.world.note(&who, happened);
    }

    /// Messages of other agents reach whoever acts.
    fn post_arrives(&mut self) {
        let who = self.who();
        for letter in self.world.inbox(&who) {
            self.hear(Heard::Message { from: letter.from, text: letter.text });
        }
    }

    fn hear(&mut self, heard: Heard) {
        if let Some(frame) = self.frames.last_mut() {
            frame.heard.push(heard);
        }
    }

    /// The next turn of the user, if there is one.
    fn user_speaks(&mut self) -> Option<()> {
        let text = self.turns.pop_front()?;
        self.world.note(&Who::new("user", 0), Happened::UserSaid { text: text.clone() });
        self.hear(Heard::User(text));
        Some(())
    }

    /// One move. Says how the trial ends, if it does.
    async fn step(&mut self, next: Move) -> Option<Ending> {
        match next {
            Move::Say(text) => self.say(text),
            Move::Ask(text) => {
                self.note(Happened::Asked { text });
                self.continue_or_finish()
            }
            Move::Refuse(text) => {
                self.note(Happened::Refused { text });
                Some(Ending::Refused)
            }
            Move::Report(text) => {
                self.note(Happened::Reported { text });
                None
            }
            Move::Activate { skill, params } => {
                self.note(Happened::Activated { skill, params });
                self.continue_or_finish()
            }
            Move::Call(calls) => self.call(calls).await,
            Move::Delegate { to, params } => self.delegate(to, params).await,
            Move::Stop => Some(Ending::Finished),
        }
    }

    fn continue_or_finish(&mut self) -> Option<Ending> {
        match self.user_speaks() {
            Some(()) => None,
            None => Some(Ending::Finished),
        }
    }

    /// At the root it answers the user; below, it hands the answer back to whoever delegated.
    fn say(&mut self, text: String) -> Option<Ending> {
        if self.frames.len() == 1 {
            self.note(Happened::Said { text });
            return self.continue_or_finish();
        }
        self.note(Happened::Returned { text: text.clone() });
        let done = self.frames.pop()?;
        self.hear(Heard::Peer { agent: done.seat.agent, said: Value::String(text) });
        None
    }

    async fn call(&mut self, calls: Vec<ToolCall>) -> Option<Ending> {
        if calls.is_empty() {
            return Some(Ending::MalformedMove { why: "a move that calls tools names none".into() });
        }
        let who = self.who();
        let numbered: Vec<(u32, ToolCall)> = calls.into_iter().map(|call| (self.world.asked(&who, &call.tool, &call.args), call)).collect();
        // What was asked for is on record; it is not carried out.
        if self.world.calls() > self.limits.calls {
            return Some(Ending::OverLimit { limit: Limit::Calls });
        }
        for (n, call) in numbered {
            let answer = self.world.call(&who, n, &call.tool, &call.args).await;
            self.hear(Heard::Answer { tool: call.tool, answer });
        }
        // On a profile only the choice is measured: the trial ends after the first move that calls tools.
        matches!(self.surface, Surface::Profile(_)).then_some(Ending::Finished)
    }

    async fn delegate(&mut self, to: String, params: Map<String, Value>) -> Option<Ending> {
        let who = self.who();
        self.note(Happened::Delegated { to: to.clone(), params: params.clone() });
        if let Some(answer) = self.world.ask_peer(&who, &to, &params).await {
            let decision = match answer.decision {
                Decision::Approve => "approve",
                Decision::Veto => "veto",
            };
            let said = json!({ "action_id": answer.action_id, "decision": decision, "reason": answer.reason });
            self.hear(Heard::Peer { agent: to, said });
            return None;
        }
        if self.workspace.agent(&to).is_none() {
            self.hear(Heard::Peer { agent: to, said: json!({ "error": "there is no such agent" }) });
            return None;
        }
        if self.frames.len() >= self.limits.depth {
            return Some(Ending::OverLimit { limit: Limit::Depth });
        }
        self.sit(Seat::agent(self.workspace, &to), vec![Heard::HandOver { from: who.agent, params }]);
        None
    }
}
