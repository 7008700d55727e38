//! Trial driver: passes moves of the subject to the world and the results back. It sees the brief of the case, never the expectations.

use crate::limits::TrialLimits;
use crate::move_size::{MAX_MOVE_BYTES, move_bytes};
use crate::subjects::Subject;
use crate::user::{User, UserInput, UserReply};
use crate::verifier_decision::VerifierDecision;
use model::suite::{Brief, CaseSurface};
use model::transcript::{FaultSource, LimitKind, Move, ReviewDecision, ToolAnswer, ToolCall, ToolErrorCode};
use model::view::{AgentContext, Observation, View};
use model::{Ending, Event, EventKind, Skill, SkillHandler, ToolListing, Workspace};
use serde_json::{Map, Value, json};
use world::{ActingAgent, World};

/// Workspace, brief and limits of a trial.
#[derive(Debug, Clone, Copy)]
pub struct TrialContext<'s> {
    pub workspace: &'s Workspace,
    pub brief: &'s Brief,
    pub limits: TrialLimits,
}

/// Runs one trial and returns its events and its ending.
pub async fn drive(scene: TrialContext<'_>, subject: &mut dyn Subject, user: &mut dyn User, world: &mut dyn World) -> (Vec<Event>, Ending) {
    let mut trial = TrialDriver::new(scene, user, world);
    let ending = trial.run(subject).await;
    // A harness fault in the world invalidates the trial, regardless of how it ended.
    let ending = trial.world.harness_fault().map_or(ending, |why| Ending::Aborted { by: FaultSource::Harness, why });
    let ending = trial.needed_recording().map_or(ending, |why| Ending::Aborted { by: FaultSource::Recordings, why });
    (trial.world.take_events(), ending)
}

struct DelegationFrame {
    context: AgentContext,
    /// Tools before the world added its notes, if their list may change.
    listed: Option<Vec<ToolListing>>,
    observations: Vec<Observation>,
}

struct TrialDriver<'t> {
    workspace: &'t Workspace,
    brief: &'t Brief,
    limits: TrialLimits,
    user: &'t mut dyn User,
    world: &'t mut dyn World,
    frames: Vec<DelegationFrame>,
    /// Bytes of all moves so far.
    moved_bytes: usize,
}

impl<'t> TrialDriver<'t> {
    fn new(scene: TrialContext<'t>, user: &'t mut dyn User, world: &'t mut dyn World) -> Self {
        let TrialContext { workspace, brief, limits } = scene;
        let mut trial = Self { workspace, brief, limits, user, world, frames: vec![], moved_bytes: 0 };
        trial.push_frame(AgentContext::for_brief(workspace, brief), vec![]);
        trial
    }

    /// Runs the move loop until the trial ends or a limit is exceeded.
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
            self.moved_bytes = self.moved_bytes.saturating_add(move_bytes(&next));
            // A move over the limit is neither executed nor recorded.
            if self.moved_bytes > MAX_MOVE_BYTES {
                return Ending::OverLimit { limit: LimitKind::Output };
            }
            self.world.think();
            if let Some(ending) = self.step(next).await {
                return ending;
            }
            if self.world.harness_fault().is_some() || self.needed_recording().is_some() {
                return Ending::Finished;
            }
            self.deliver_inbox();
        }
        Ending::OverLimit { limit: LimitKind::Turns }
    }

    /// Returns the call that lacks a recorded answer, if the subject needs one. On a profile the trial ends with the call itself.
    fn needed_recording(&self) -> Option<String> {
        let ends_with_call = matches!(self.brief.surface, CaseSurface::Profile(_));
        self.world.missing_recording().filter(|_| !ends_with_call)
    }

    fn view(&self) -> Option<View<'_>> {
        let frame = self.frames.last()?;
        Some(View { context: &frame.context, depth: self.depth(), observations: &frame.observations })
    }

    fn depth(&self) -> u32 {
        u32::try_from(self.frames.len().saturating_sub(1)).unwrap_or(u32::MAX)
    }

    /// Activates an agent, with its tool list as this world shows it.
    fn push_frame(&mut self, mut context: AgentContext, observations: Vec<Observation>) {
        let depth = u32::try_from(self.frames.len()).unwrap_or(u32::MAX);
        let listed = self.world.changes_tools().then(|| context.tools.clone());
        context.tools = self.world.annotate_tools(&ActingAgent::new(&context.agent, depth), context.tools);
        self.frames.push(DelegationFrame { context, listed, observations });
    }

    /// Lists the tools of the active agent again, where the world may change them.
    fn refresh_tools(&mut self) {
        let who = self.who();
        if let Some(frame) = self.frames.last_mut()
            && let Some(listed) = frame.listed.clone()
        {
            frame.context.tools = self.world.annotate_tools(&who, listed);
        }
    }

    fn who(&self) -> ActingAgent {
        ActingAgent::new(self.frames.last().map(|frame| frame.context.agent.as_str()).unwrap_or_default(), self.depth())
    }

    fn note(&mut self, happened: EventKind) {
        let who = self.who();
        self.world.note(&who, happened);
    }

    /// Delivers pending messages of other agents to the active agent.
    fn deliver_inbox(&mut self) {
        let who = self.who();
        for message in self.world.take_messages(&who) {
            self.observe(Observation::Message { from: message.from, text: message.text });
        }
    }

    fn observe(&mut self, observation: Observation) {
        if let Some(frame) = self.frames.last_mut() {
            frame.observations.push(observation);
        }
    }

    /// Gets the user's reply and records it. Returns the ending if the user ends the trial.
    async fn user_turn(&mut self, input: UserInput<'_>) -> Option<Ending> {
        let spoken = match self.user.respond(input).await {
            Ok(UserReply::Says(spoken)) => spoken,
            Ok(UserReply::Leaves) => return Some(Ending::Finished),
            Err(fault) => return Some(fault.into()),
        };
        let user = ActingAgent::new("user", 0);
        if let Some(question) = spoken.unmatched {
            self.world.note(&user, EventKind::Unmatched { question });
        }
        self.world.note(&user, EventKind::UserSaid { text: spoken.text.clone() });
        for revealed in spoken.reveals {
            self.world.note(&user, EventKind::Revealed { fact: revealed.fact, corrected: revealed.corrected });
        }
        self.observe(Observation::User(spoken.text));
        None
    }

    /// Executes one move. Returns the ending if the move ends the trial.
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
            Move::Activate { skill, params } => self.activate(skill, params).await,
            Move::Call(calls) => self.call(calls).await,
            Move::Delegate { to, params } => self.delegate(to, params).await,
            Move::Stop => Some(Ending::Finished),
        }
    }

    /// Records the activation. Once the user has nothing to add, a skill that is to be carried out is handed to its agent.
    async fn activate(&mut self, skill: String, params: Map<String, Value>) -> Option<Ending> {
        self.note(EventKind::Activated { skill: skill.clone(), params: params.clone() });
        let ending = self.user_turn(UserInput::Activated(&skill)).await?;
        let closes = self.brief.carry_out && self.frames.len() == 1 && ending == Ending::Finished;
        match self.workspace.skill(&skill).filter(|_| closes) {
            Some(skill) => self.carry_out(skill, params),
            None => return Some(ending),
        }
        None
    }

    /// Starts the agent of a skill as by a delegation. The subject plays it, even if the world answers for that agent elsewhere.
    fn carry_out(&mut self, skill: &'t Skill, given: Map<String, Value>) {
        let params = skill.hand_over(given);
        if let SkillHandler::Agent(to) = &skill.handler {
            self.note(EventKind::Delegated { to: to.value.clone(), params: params.clone() });
        }
        let from = self.who().agent;
        self.push_frame(AgentContext::for_skill(self.workspace, skill), vec![Observation::HandOver { from, params }]);
    }

    /// Sends the text to the user if the root agent speaks, otherwise returns it to the delegating agent.
    async fn say(&mut self, text: String) -> Option<Ending> {
        if self.frames.len() == 1 {
            self.note(EventKind::Said { text: text.clone() });
            return self.user_turn(UserInput::Said(&text)).await;
        }
        let said = self.record_decision(&text).unwrap_or_else(|| Value::String(text.clone()));
        self.note(EventKind::Returned { text });
        let done = self.frames.pop()?;
        // The answer of the agent that carries out a skill is the report to the user.
        if self.brief.carry_out && self.frames.len() == 1 {
            return Some(Ending::Finished);
        }
        self.observe(Observation::Peer { agent: done.context.agent, said });
        None
    }

    /// Records the decision in a verifier's answer. It applies to the action named there, otherwise to the one in the hand-over.
    fn record_decision(&mut self, text: &str) -> Option<Value> {
        let frame = self.frames.last()?;
        let verdict =
            self.workspace.agent(&frame.context.agent).filter(|agent| agent.verifier).and_then(|_| VerifierDecision::parse(text))?;
        let asked = frame
            .observations
            .iter()
            .find_map(|one| if let Observation::HandOver { params, .. } = one { params.get("action_id") } else { None });
        let action_id = verdict.action_id.or_else(|| asked.and_then(Value::as_str).map(str::to_owned));
        let who = self.who();
        self.world.record_decision(&who, action_id, verdict.decision, verdict.reason);
        Some(verdict.said)
    }

    async fn call(&mut self, calls: Vec<ToolCall>) -> Option<Ending> {
        if calls.is_empty() {
            return Some(Ending::MalformedMove { why: "the move calls tools but lists none".into() });
        }
        let who = self.who();
        // One call over the limit is recorded as evidence. A move over the limit is not executed.
        let most = self.limits.calls.saturating_sub(self.world.calls()).saturating_add(1);
        let recorded = calls.into_iter().take(usize::try_from(most).unwrap_or(usize::MAX));
        let numbered: Vec<(u32, ToolCall)> = recorded.map(|call| (self.world.record_call(&who, &call.tool, &call.args), call)).collect();
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
        self.refresh_tools();
        // Profile cases measure tool selection only: the trial ends after the first move that calls tools.
        matches!(self.brief.surface, CaseSurface::Profile(_)).then_some(Ending::Finished)
    }

    /// Reports whether the active agent's tool list has the tool, by name or alias.
    fn offers_tool(&self, name: &str) -> bool {
        let known = self.workspace.tool(name).map(|tool| tool.name.as_str());
        self.frames
            .last()
            .is_some_and(|frame| frame.context.tools.iter().any(|tool| tool.name == name || Some(tool.name.as_str()) == known))
    }

    /// Records a call of a tool the agent does not have; the world is not changed.
    fn unknown_tool(&mut self, who: &ActingAgent, call: u32) -> ToolAnswer {
        let message = "this agent has no tool with that name".to_owned();
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
            self.observe(Observation::Peer { agent: to, said: json!({ "error": "unknown agent" }) });
            return None;
        }
        if self.frames.len() >= self.limits.depth {
            return Some(Ending::OverLimit { limit: LimitKind::Depth });
        }
        let mut params = params;
        self.world.pass_hand_over(&who, &mut params);
        self.push_frame(AgentContext::for_agent(self.workspace, &to), vec![Observation::HandOver { from: who.agent, params }]);
        None
    }
}
