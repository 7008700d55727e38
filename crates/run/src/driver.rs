//! One trial: move, world, event, until it ends. The driver is given the brief and nothing else of the case.

use crate::limits::Limits;
use crate::subjects::Subject;
use crate::user::{Reply, Told, User};
use crate::verdict::Verdict;
use model::seat::{Heard, Seat, View};
use model::suite::{Brief, Surface};
use model::transcript::{Culprit, Decision, Limit, Move, ToolAnswer, ToolCall, ToolErrorCode};
use model::{Ending, Event, Happened, Workspace};
use serde_json::{Map, Value, json};
use world::{Who, World};

/// Where a trial plays and when it is cut off.
#[derive(Debug, Clone, Copy)]
pub struct Scene<'s> {
    pub workspace: &'s Workspace,
    pub brief: &'s Brief,
    pub limits: Limits,
}

/// Plays one trial to its end.
pub async fn drive(scene: Scene<'_>, subject: &mut dyn Subject, user: &mut dyn User, world: &mut dyn World) -> (Vec<Event>, Ending) {
    let mut trial = Trial::open(scene, user, world);
    let ending = trial.play(subject).await;
    // Whatever came of a world that could not do its part says nothing about the subject.
    let ending = trial.world.broken().map_or(ending, |why| Ending::Aborted { by: Culprit::Harness, why });
    (trial.world.take_events(), ending)
}

struct Frame {
    seat: Seat,
    heard: Vec<Heard>,
}

struct Trial<'t> {
    workspace: &'t Workspace,
    surface: &'t Surface,
    limits: Limits,
    user: &'t mut dyn User,
    world: &'t mut dyn World,
    frames: Vec<Frame>,
}

impl<'t> Trial<'t> {
    fn open(scene: Scene<'t>, user: &'t mut dyn User, world: &'t mut dyn World) -> Self {
        let Scene { workspace, brief, limits } = scene;
        let mut trial = Self { workspace, surface: &brief.surface, limits, user, world, frames: vec![] };
        trial.sit(Seat::of(workspace, brief), vec![]);
        trial
    }

    /// Move, world, event, until it ends.
    async fn play(&mut self, subject: &mut dyn Subject) -> Ending {
        if let Some(ending) = self.user_hears(Told::Nothing).await {
            return ending;
        }
        self.post_arrives();
        for _ in 0..self.limits.moves {
            let Some(view) = self.view() else { return Ending::Finished };
            let next = match subject.next(&view).await {
                Ok(next) => next,
                Err(fault) => return fault.into(),
            };
            if let Some(limit) = self.limits.passed(subject.used()) {
                return Ending::OverLimit { limit };
            }
            self.world.think();
            if let Some(ending) = self.step(next).await {
                return ending;
            }
            if self.world.broken().is_some() {
                return Ending::Finished;
            }
            self.post_arrives();
        }
        Ending::OverLimit { limit: Limit::Turns }
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

    /// The user answers what reached it. Says how the trial ends, if the user ends it.
    async fn user_hears(&mut self, told: Told<'_>) -> Option<Ending> {
        let spoken = match self.user.hear(told).await {
            Ok(Reply::Says(spoken)) => spoken,
            Ok(Reply::Leaves) => return Some(Ending::Finished),
            Err(fault) => return Some(fault.into()),
        };
        let user = Who::new("user", 0);
        if let Some(question) = spoken.unmatched {
            self.world.note(&user, Happened::Unmatched { question });
        }
        self.world.note(&user, Happened::UserSaid { text: spoken.text.clone() });
        for told in spoken.reveals {
            self.world.note(&user, Happened::Revealed { fact: told.fact, corrected: told.corrected });
        }
        self.hear(Heard::User(spoken.text));
        None
    }

    /// One move. Says how the trial ends, if it does.
    async fn step(&mut self, next: Move) -> Option<Ending> {
        match next {
            Move::Say(text) => self.say(text).await,
            Move::Ask(text) => {
                self.note(Happened::Asked { text: text.clone() });
                self.user_hears(Told::Asked(&text)).await
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
                self.note(Happened::Activated { skill: skill.clone(), params });
                self.user_hears(Told::Activated(&skill)).await
            }
            Move::Call(calls) => self.call(calls).await,
            Move::Delegate { to, params } => self.delegate(to, params).await,
            Move::Stop => Some(Ending::Finished),
        }
    }

    /// At the root it answers the user; below, it hands the answer back to whoever delegated.
    async fn say(&mut self, text: String) -> Option<Ending> {
        if self.frames.len() == 1 {
            self.note(Happened::Said { text: text.clone() });
            return self.user_hears(Told::Said(&text)).await;
        }
        let said = self.verdict(&text).unwrap_or_else(|| Value::String(text.clone()));
        self.note(Happened::Returned { text });
        let done = self.frames.pop()?;
        self.hear(Heard::Peer { agent: done.seat.agent, said });
        None
    }

    /// An agent that verifies decides with its answer, about the action it names or else the one it was asked about.
    fn verdict(&mut self, text: &str) -> Option<Value> {
        let frame = self.frames.last()?;
        let verdict = self.workspace.agent(&frame.seat.agent).filter(|agent| agent.verifier).and_then(|_| Verdict::read(text))?;
        let asked =
            frame.heard.iter().find_map(|heard| if let Heard::HandOver { params, .. } = heard { params.get("action_id") } else { None });
        let action_id = verdict.action_id.or_else(|| asked.and_then(Value::as_str).map(str::to_owned));
        let who = self.who();
        self.world.decided(&who, action_id, verdict.decision, verdict.reason);
        Some(verdict.said)
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
            let answer =
                if self.offers(&call.tool) { self.world.call(&who, n, &call.tool, &call.args).await } else { self.unknown(&who, n) };
            self.hear(Heard::Answer { tool: call.tool, answer });
        }
        // On a profile only the choice is measured: the trial ends after the first move that calls tools.
        matches!(self.surface, Surface::Profile(_)).then_some(Ending::Finished)
    }

    /// Whether the seat lists the tool, under this name or another of its names.
    fn offers(&self, name: &str) -> bool {
        let known = self.workspace.tool(name).map(|tool| tool.name.as_str());
        self.frames.last().is_some_and(|frame| frame.seat.tools.iter().any(|tool| tool.name == name || Some(tool.name.as_str()) == known))
    }

    /// Reaching for a tool that is not there is evidence, and does nothing.
    fn unknown(&mut self, who: &Who, call: u32) -> ToolAnswer {
        let message = "there is no such tool at this seat".to_owned();
        let answer = ToolAnswer::error(ToolErrorCode::UnknownTool, message);
        self.world.note(who, Happened::Answered { call, answer: answer.clone() });
        answer
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
