//! Acts of agents in a transcript, without the events the world added.

use crate::evidence::Evidence;
use crate::facts::skill_run::skill_run;
use crate::facts::user_questions::asks_user;
use model::rule::{ActionSelector, RequiredDecision};
use model::transcript::{ReviewDecision, ToolAnswer};
use model::{Event, EventKind, OpClass, Tool, Workspace};
use serde_json::{Map, Value};

/// One act. A delegation to a reviewer is done with the decision.
#[derive(Debug, Clone)]
pub(crate) struct AgentAct<'a> {
    pub event: u32,
    pub at_ms: u64,
    /// Event that completed the act.
    pub done: u32,
    /// Event from which its outcome is known: the answer of a call, the decision about a delegation. A call without a recorded answer, as
    /// in logs that leave answers out, counts from the call.
    pub answered: u32,
    pub done_ms: u64,
    pub by: &'a str,
    pub depth: u32,
    /// The tool answered with an error.
    pub failed: bool,
    pub kind: ActKind<'a>,
}

#[derive(Debug, Clone)]
pub(crate) enum ActKind<'a> {
    Call {
        call: u32,
        tool: Option<&'a Tool>,
        said: &'a str,
        args: &'a Value,
        /// Arguments of the call that prepared the action, if this call names one.
        prepared: Option<&'a Value>,
    },
    Sign {
        call: Option<u32>,
    },
    Delegate {
        to: &'a str,
        params: &'a Map<String, Value>,
        answer: Option<RequiredDecision>,
    },
    /// Decision without a matching delegation.
    Decide(RequiredDecision),
    Ask,
    /// Answer in words, which may be a question as well.
    Say {
        asks: bool,
    },
    Report,
}

impl AgentAct<'_> {
    pub(crate) fn name(&self) -> &str {
        match &self.kind {
            ActKind::Call { tool, said, .. } => tool.map_or(said, |tool| tool.name.as_str()),
            ActKind::Sign { .. } => "a signature",
            ActKind::Delegate { to, .. } => to,
            ActKind::Decide(_) => "a decision",
            ActKind::Ask => "a question",
            ActKind::Say { .. } => "an answer",
            ActKind::Report => "a report",
        }
    }

    /// Returns whether the call only prepares an action and sends nothing.
    pub(crate) fn is_dry_run(&self) -> bool {
        matches!(&self.kind, ActKind::Call { tool: Some(tool), args, .. } if tool.is_dry_run(args))
    }
}

#[derive(Debug, Clone)]
pub(crate) struct AgentActs<'a> {
    pub(super) workspace: &'a Workspace,
    acts: Vec<AgentAct<'a>>,
}

impl<'a> AgentActs<'a> {
    pub(crate) fn of(workspace: &'a Workspace, events: &'a [Event]) -> Self {
        let mut acts: Vec<AgentAct<'a>> = vec![];
        for event in events {
            if let EventKind::Answered { call, answer } = &event.happened {
                apply_answer(&mut acts, event.n, *call, answer);
            } else if let EventKind::Decided { decision, .. } = &event.happened {
                apply_decision(&mut acts, event, decision_answer(*decision));
            } else {
                acts.extend(act_kind(workspace, &acts, events, event).map(|kind| new_act(event, kind)));
            }
        }
        Self { workspace, acts }
    }

    /// Returns the acts that the rules of a case are about. There `say` is an answer to the user: what an agent returns to the agent that
    /// called it is none, but for the report of a skill.
    pub(crate) fn of_case(evidence: &Evidence<'a>) -> Self {
        let mut acts = Self::of(evidence.workspace, &evidence.transcript.events);
        let report = skill_run(evidence).and_then(|run| run.report()).map(|(event, _)| event.n);
        let reaches_user = |act: &AgentAct<'a>| act.depth == 0 || Some(act.event) == report;
        acts.acts.retain(|act| !matches!(act.kind, ActKind::Say { .. }) || reaches_user(act));
        acts
    }

    /// Returns the acts of one agent, plus all decisions without a delegation.
    pub(crate) fn by_agent(&self, agent: &str) -> Self {
        let own = |act: &&AgentAct<'a>| act.by == agent || matches!(act.kind, ActKind::Decide(_));
        Self { workspace: self.workspace, acts: self.acts.iter().filter(own).cloned().collect() }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &AgentAct<'a>> {
        self.acts.iter()
    }

    /// Returns the acts that a selector selects.
    pub(crate) fn matching<'s>(&'s self, selector: &ActionSelector) -> Vec<&'s AgentAct<'a>> {
        self.iter().filter(|act| self.matches(selector, act)).collect()
    }

    /// Reports whether the act changes state: a call of a write tool, or a signature that no tool made.
    pub(crate) fn is_write(&self, act: &AgentAct<'a>) -> bool {
        match act.kind {
            ActKind::Call { tool, .. } => tool.is_some_and(Tool::writes) && !act.is_dry_run(),
            ActKind::Sign { call } => call.is_none(),
            ActKind::Delegate { .. } | ActKind::Decide(_) | ActKind::Ask | ActKind::Say { .. } | ActKind::Report => false,
        }
    }

    /// Reports whether an agent did something: called a tool, signed or delegated. Talk alone can break no prohibition.
    pub(crate) fn has_deeds(&self) -> bool {
        self.acts.iter().any(|act| match act.kind {
            ActKind::Call { .. } | ActKind::Sign { .. } | ActKind::Delegate { .. } => true,
            ActKind::Decide(_) | ActKind::Ask | ActKind::Say { .. } | ActKind::Report => false,
        })
    }

    /// Returns whether no agent acted, apart from decisions without a delegation.
    pub(crate) fn is_empty(&self) -> bool {
        self.acts.iter().all(|act| matches!(act.kind, ActKind::Decide(_)))
    }
}

fn new_act<'a>(event: &'a Event, kind: ActKind<'a>) -> AgentAct<'a> {
    AgentAct {
        event: event.n,
        at_ms: event.at_ms,
        done: event.n,
        answered: event.n,
        done_ms: event.at_ms,
        by: &event.by,
        depth: event.depth,
        failed: false,
        kind,
    }
}

fn act_kind<'a>(workspace: &'a Workspace, before: &[AgentAct<'a>], events: &'a [Event], event: &'a Event) -> Option<ActKind<'a>> {
    match &event.happened {
        EventKind::Called { call, tool, args } => {
            let prepared = args.get("action_id").and_then(Value::as_str).and_then(|id| prepared_args(events, id));
            Some(ActKind::Call { call: *call, tool: workspace.tool(tool), said: tool, args, prepared })
        }
        EventKind::Signed { what, .. } if !what.signer().own => None,
        EventKind::Signed { origin, .. } => {
            // Several signatures of one call count once.
            let again = |act: &AgentAct<'_>| matches!(act.kind, ActKind::Sign { call: Some(call) } if Some(call) == origin.call);
            (!before.iter().any(again)).then_some(ActKind::Sign { call: origin.call })
        }
        EventKind::Delegated { to, params } => Some(ActKind::Delegate { to, params, answer: None }),
        EventKind::Asked { .. } => Some(ActKind::Ask),
        EventKind::Said { .. } => Some(ActKind::Say { asks: asks_user(event) }),
        EventKind::Returned { .. } => Some(ActKind::Say { asks: false }),
        EventKind::Reported { .. } => Some(ActKind::Report),
        EventKind::UserSaid { .. }
        | EventKind::Refused { .. }
        | EventKind::Activated { .. }
        | EventKind::Resolved { .. }
        | EventKind::Prepared { .. }
        | EventKind::Simulated { .. }
        | EventKind::WouldBlock { .. }
        | EventKind::Blocked { .. }
        | EventKind::Confirmed { .. }
        | EventKind::Answered { .. }
        | EventKind::Decided { .. }
        | EventKind::Messaged { .. }
        | EventKind::Remembered { .. }
        | EventKind::Recalled { .. }
        | EventKind::HoleRead { .. }
        | EventKind::FixtureUsed { .. }
        | EventKind::Judged { .. }
        | EventKind::Misjudged { .. }
        | EventKind::Scored { .. }
        | EventKind::Used { .. }
        | EventKind::Claimed { .. }
        | EventKind::Revealed { .. }
        | EventKind::Unmatched { .. }
        | EventKind::Mined { .. } => None,
    }
}

fn apply_answer(acts: &mut [AgentAct<'_>], event: u32, answered: u32, answer: &ToolAnswer) {
    let own = |act: &&mut AgentAct<'_>| matches!(act.kind, ActKind::Call { call, .. } if call == answered);
    let Some(act) = acts.iter_mut().rev().find(own) else { return };
    act.answered = event;
    if let ToolAnswer::Error { .. } = answer {
        // A source that does not answer, or has no such thing, was read all the same.
        let is_read = matches!(act.kind, ActKind::Call { tool: Some(tool), .. } if tool.acts.class() == OpClass::Read);
        act.failed = !is_read || answer.refuses_call();
    }
}

fn apply_decision<'a>(acts: &mut Vec<AgentAct<'a>>, event: &'a Event, decision: RequiredDecision) {
    let delegation = acts.iter_mut().rev().find(|act| matches!(&act.kind, ActKind::Delegate { to, answer: None, .. } if *to == event.by));
    match delegation {
        Some(AgentAct { done, done_ms, answered, kind: ActKind::Delegate { answer, .. }, .. }) => {
            (*done, *done_ms, *answered, *answer) = (event.n, event.at_ms, event.n, Some(decision));
        }
        Some(_) | None => acts.push(new_act(event, ActKind::Decide(decision))),
    }
}

fn decision_answer(decision: ReviewDecision) -> RequiredDecision {
    match decision {
        ReviewDecision::Approve => RequiredDecision::Approve,
        ReviewDecision::Veto => RequiredDecision::Veto,
    }
}

/// Returns the arguments of the call that prepared the action.
fn prepared_args<'a>(events: &'a [Event], action_id: &str) -> Option<&'a Value> {
    let answered = |event: &Event| {
        let EventKind::Answered { call, answer: ToolAnswer::Result(value) } = &event.happened else { return None };
        (value.get("action_id").and_then(Value::as_str) == Some(action_id)).then_some(*call)
    };
    let frozen = |event: &Event| {
        let EventKind::Prepared { call, action } = &event.happened else { return None };
        (action.action_id == action_id).then_some(*call)
    };
    let prepared_by = events.iter().find_map(|event| frozen(event).or_else(|| answered(event)))?;
    events.iter().find_map(|event| {
        let EventKind::Called { call, args, .. } = &event.happened else { return None };
        (*call == prepared_by).then_some(args)
    })
}

/// Returns whether calling the tool produces a signature by itself.
pub(super) fn signs(tool: &Tool) -> bool {
    tool.acts.class() == OpClass::Permit
}
