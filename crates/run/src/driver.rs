//! One trial: move, world, event, until it ends. The driver is given the brief and nothing else of the case.

use crate::limits::TrialLimits;
use crate::subjects::Subject;
use crate::user::{User, UserInput, UserReply};
use crate::verifier_decision::VerifierDecision;
use model::suite::{Brief, CaseSurface};
use model::transcript::{FaultSource, LimitKind, Move, ReviewDecision, ToolAnswer, ToolCall, ToolErrorCode};
use model::view::{AgentContext, Observation, View};
use model::{Ending, Event, EventKind, Workspace};
use serde_json::{Map, Value, json};
use world::{ActingAgent, World};

/// Where a trial plays and when it is cut off.
#[derive(Debug, Clone, Copy)]
pub struct TrialContext<'s> {
    pub workspace: &'s Workspace,
    pub brief: &'s Brief,
    pub limits: TrialLimits,
}

/// Plays one trial to its end.
pub async fn drive(scene: TrialContext<'_>, subject: &mut dyn Subject, user: &mut dyn User, world: &mut dyn World) -> (Vec<Event>, Ending) {
    let mut trial = TrialDriver::new(scene, user, world);
    let ending = trial.run(subject).await;
    // Whatever came of a world that could not do its part says nothing about the subject.
    let ending = trial.world.harness_fault().map_or(ending, |why| Ending::Aborted { by: FaultSource::Harness, why });
    (trial.world.take_events(), ending)
}

struct DelegationFrame {
    context: AgentContext,
    observations: Vec<Observation>,
}

struct TrialDriver<'t> {
    workspace: &'t Workspace,
    surface: &'t CaseSurface,
    limits: TrialLimits,
    user: &'t mut dyn User,
    world: &'t mut dyn World,
    frames: Vec<DelegationFrame>,
}

impl<'t> TrialDriver<'t> {
    fn new(scene: TrialContext<'t>, user: &'t mut dyn User, world: &'t mut dyn World) -> Self {
        let TrialContext { workspace, brief, limits } = scene;
        let mut trial = Self { workspace, surface: &brief.surface, limits, user, world, frames: vec![] };
        trial.push_frame(AgentContext::for_brief(workspace, brief), vec![]);
        trial
    }

    /// Move, world, event, until it ends.
    async fn run(&mut self, subject: &mut dyn Subject) -> Ending {
        if let Some(ending) = self.user_turn(UserInput::Start).await {
            return ending;
        }
        self.deliver_inbox();
        for _ in 0..self.limits.moves {
            let Some(view) = self.view() else { return Ending::Finished };
            let next = match subject.next(&view).await {
                Ok(next) => next,
                Err(fault) => return fault.into(),
            };
            if let Some(limit) = self.limits.exceeded(subject.usage()) {
                return Ending::OverLimit { limit };
            }
            self.world.think();
            if let Some(ending) = self.step(next).await {
                return ending;
            }
            if self.world.harness_fault().is_some() {
                return Ending::Finished;
            }
            self.deliver_inbox();
        }
        Ending::OverLimit { limit: LimitKind::Turns }
    }

    fn view(&self) -> Option<View<'_>> {
        let frame = self.frames.last()?;
        Some(View { context: &frame.context, depth: self.depth(), observations: &frame.observations })
    }

    fn depth(&self) -> u32 {
        u32::try_from(self.frames.len().saturating_sub(1)).unwrap_or(u32::MAX)
    }

    /// Somebody takes a seat and sees its tools as this world shows them.
    fn push_frame(&mut self, mut seat: AgentContext, heard: Vec<Observation>) {
        let depth = u32::try_from(self.frames.len()).unwrap_or(u32::MAX);
        seat.tools = self.world.annotate_tools(&ActingAgent::new(&seat.agent, depth), seat.tools);
        self.frames.push(DelegationFrame { context: seat, observations: heard });
    }

    fn who(&self) -> ActingAgent {
        ActingAgent::new(self.frames.last().map(|frame| frame.context.agent.as_str()).unwrap_or_default(), self.depth())
    }

    fn note(&mut self, happened: EventKind) {
        let who = self.who();
        self.world.note(&who, happened);
    }

    /// Messages of other agents reach whoever acts.
    fn deliver_inbox(&mut self) {
        let who = self.who();
        for letter in self.world.take_messages(&who) {
            self.observe(Observation::Message { from: letter.from, text: letter.text });
        }
    }

    fn observe(&mut self, heard: Observation) {
        if let Some(frame) = self.frames.last_mut() {
            frame.observations.push(heard);
        }
    }

    /// The user answers what reached it. Says how the trial ends, if the user ends it.
    async fn user_turn(&mut self, told: UserInput<'_>) -> Option<Ending> {
        let spoken = match self.user.respond(told).await {
            Ok(UserReply::Says(spoken)) => spoken,
            Ok(UserReply::Leaves) => return Some(Ending::Finished),
            Err(fault) => return Some(fault.into()),
        };
        let user = ActingAgent::new("user", 0);
        if let Some(question) = spoken.unmatched {
            self.world.note(&user, EventKind::Unmatched { question });
        }
        self.world.note(&user, EventKind::UserSaid { text: spoken.text.clone() });
        for told in spoken.reveals {
            self.world.note(&user, EventKind::Revealed { fact: told.fact, corrected: told.corrected });
        }
        self.observe(Observation::User(spoken.text));
        None
    }

    /// One move. Says how the trial ends, if it does.
    async fn step(&mut self, next: Move) -> Option<Ending> {
        match next {
            Move::Say(text) => self.say(text).await,
            Move::Ask(text) => {
                self.note(EventKind::Asked { text: text.clone() });
                self.user_turn(UserInput::Asked(&text)).await
            }
            Move::Refuse(text) => {
                self.note(EventKind::Refused { text });
                Some(Ending::Refused)
            }
            Move::Report(text) => {
                self.note(EventKind::Reported { text });
                None
            }
            Move::Activate { skill, params } => {
                self.note(EventKind::Activated { skill: skill.clone(), params });
                self.user_turn(UserInput::Activated(&skill)).await
            }
            Move::Call(calls) => self.call(calls).await,
            Move::Delegate { to, params } => self.delegate(to, params).await,
            Move::Stop => Some(Ending::Finished),
        }
    }

    /// At the root it answers the user; below, it hands the answer back to whoever delegated.
    async fn say(&mut self, text: String) -> Option<Ending> {
        if self.frames.len() == 1 {
            self.note(EventKind::Said { text: text.clone() });
            return self.user_turn(UserInput::Said(&text)).await;
        }
        let said = self.record_decision(&text).unwrap_or_else(|| Value::String(text.clone()));
        self.note(EventKind::Returned { text });
        let done = self.frames.pop()?;
        self.observe(Observation::Peer { agent: done.context.agent, said });
        None
    }

    /// An agent that verifies decides with its answer, about the action it names or else the one it was asked about.
    fn record_decision(&mut self, text: &str) -> Option<Value> {
        let frame = self.frames.last()?;
        let verdict =
            self.workspace.agent(&frame.context.agent).filter(|agent| agent.verifier).and_then(|_| VerifierDecision::parse(text))?;
        let asked = frame
            .observations
            .iter()
            .find_map(|heard| if let Observation::HandOver { params, .. } = heard { params.get("action_id") } else { None });
        let action_id = verdict.action_id.or_else(|| asked.and_then(Value::as_str).map(str::to_owned));
        let who = self.who();
        self.world.record_decision(&who, action_id, verdict.decision, verdict.reason);
        Some(verdict.said)
    }

    async fn call(&mut self, calls: Vec<ToolCall>) -> Option<Ending> {
        if calls.is_empty() {
            return Some(Ending::MalformedMove { why: "a move that calls tools names none".into() });
        }
        let who = self.who();
        let numbered: Vec<(u32, ToolCall)> =
            calls.into_iter().map(|call| (self.world.record_call(&who, &call.tool, &call.args), call)).collect();
        // What was asked for is on record; it is not carried out.
        if self.world.calls() > self.limits.calls {
            return Some(Ending::OverLimit { limit: LimitKind::Calls });
        }
        for (n, call) in numbered {
            let answer = if self.offers_tool(&call.tool) {
                self.world.call(&who, n, &call.tool, &call.args).await
            } else {
                self.unknown_tool(&who, n)
            };
            self.observe(Observation::Answer { tool: call.tool, answer });
        }
        // On a profile only the choice is measured: the trial ends after the first move that calls tools.
        matches!(self.surface, CaseSurface::Profile(_)).then_some(Ending::Finished)
    }

    /// Whether the seat lists the tool, under this name or another of its names.
    fn offers_tool(&self, name: &str) -> bool {
        let known = self.workspace.tool(name).map(|tool| tool.name.as_str());
        self.frames
            .last()
            .is_some_and(|frame| frame.context.tools.iter().any(|tool| tool.name == name || Some(tool.name.as_str()) == known))
    }

    /// Reaching for a tool that is not there is evidence, and does nothing.
    fn unknown_tool(&mut self, who: &ActingAgent, call: u32) -> ToolAnswer {
        let message = "there is no such tool at this seat".to_owned();
        let answer = ToolAnswer::error(ToolErrorCode::UnknownTool, message);
        self.world.note(who, EventKind::Answered { call, answer: answer.clone() });
        answer
    }

    async fn delegate(&mut self, to: String, params: Map<String, Value>) -> Option<Ending> {
        let who = self.who();
        self.note(EventKind::Delegated { to: to.clone(), params: params.clone() });
        if let Some(answer) = self.world.ask_peer(&who, &to, &params).await {
            let decision = match answer.decision {
                ReviewDecision::Approve => "approve",
                ReviewDecision::Veto => "veto",
            };
            let said = json!({ "action_id": answer.action_id, "decision": decision, "reason": answer.reason });
            self.observe(Observation::Peer { agent: to, said });
            return None;
        }
        if self.workspace.agent(&to).is_none() {
            self.observe(Observation::Peer { agent: to, said: json!({ "error": "there is no such agent" }) });
            return None;
        }
        if self.frames.len() >= self.limits.depth {
            return Some(Ending::OverLimit { limit: LimitKind::Depth });
        }
        self.push_frame(AgentContext::for_agent(self.workspace, &to), vec![Observation::HandOver { from: who.agent, params }]);
        None
    }
}
