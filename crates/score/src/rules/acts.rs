//! Acts of agents in a transcript, without the events the world added.

use model::rule::Answer;
use model::transcript::{Decision, ToolAnswer};
use model::{Event, Happened, OpClass, Tool, Workspace};
use serde_json::{Map, Value};

/// One act. A delegation that was decided about is done when the decision fell.
#[derive(Debug, Clone)]
pub(crate) struct Act<'a> {
    pub event: u32,
    pub at_ms: u64,
    /// The event with which it was done, and when.
    pub done: u32,
    pub done_ms: u64,
    pub by: &'a str,
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
        /// Arguments of the call that prepared the action, where this one names it.
        prepared: Option<&'a Value>,
    },
    Sign {
        call: Option<u32>,
    },
    Delegate {
        to: &'a str,
        params: &'a Map<String, Value>,
        answer: Option<Answer>,
    },
    /// A decision nobody is seen to have asked for.
    Decide(Answer),
    Ask,
    Say,
    Report,
}

impl Act<'_> {
    pub(crate) fn name(&self) -> &str {
        match &self.kind {
            ActKind::Call { tool, said, .. } => tool.map_or(said, |tool| tool.name.as_str()),
            ActKind::Sign { .. } => "a signature",
            ActKind::Delegate { to, .. } => to,
            ActKind::Decide(_) => "a decision",
            ActKind::Ask => "a question",
            ActKind::Say => "an answer",
            ActKind::Report => "a report",
        }
    }

    /// A dry run prepares and sends nothing.
    pub(crate) fn is_dry_run(&self) -> bool {
        matches!(&self.kind, ActKind::Call { args, .. } if args.get("dry_run") == Some(&Value::Bool(true)))
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Acts<'a> {
    pub(super) workspace: &'a Workspace,
    acts: Vec<Act<'a>>,
}

impl<'a> Acts<'a> {
    pub(crate) fn of(workspace: &'a Workspace, events: &'a [Event]) -> Self {
        let mut acts: Vec<Act<'a>> = vec![];
        for event in events {
            if let Happened::Answered { call, answer } = &event.happened {
                settle(&mut acts, *call, answer);
            } else if let Happened::Decided { decision, .. } = &event.happened {
                decide(&mut acts, event, answer(*decision));
            } else {
                acts.extend(kind(workspace, &acts, events, event).map(|kind| act(event, kind)));
            }
        }
        Self { workspace, acts }
    }

    /// What one agent did itself. Decisions nobody asked for are seen by everybody.
    pub(crate) fn by(&self, agent: &str) -> Self {
        let own = |act: &&Act<'a>| act.by == agent || matches!(act.kind, ActKind::Decide(_));
        Self { workspace: self.workspace, acts: self.acts.iter().filter(own).cloned().collect() }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Act<'a>> {
        self.acts.iter()
    }

    /// Whether nobody did anything.
    pub(crate) fn is_empty(&self) -> bool {
        self.acts.iter().all(|act| matches!(act.kind, ActKind::Decide(_)))
    }
}

fn act<'a>(event: &'a Event, kind: ActKind<'a>) -> Act<'a> {
    Act { event: event.n, at_ms: event.at_ms, done: event.n, done_ms: event.at_ms, by: &event.by, failed: false, kind }
}

fn kind<'a>(workspace: &'a Workspace, before: &[Act<'a>], events: &'a [Event], event: &'a Event) -> Option<ActKind<'a>> {
    match &event.happened {
        Happened::Called { call, tool, args } => {
            let prepared = args.get("action_id").and_then(Value::as_str).and_then(|id| prepared_args(events, id));
            Some(ActKind::Call { call: *call, tool: workspace.tool(tool), said: tool, args, prepared })
        }
        Happened::Signed { origin, .. } => {
            // One call that signs several things signs once.
            let again = |act: &Act<'_>| matches!(act.kind, ActKind::Sign { call: Some(call) } if Some(call) == origin.call);
            (!before.iter().any(again)).then_some(ActKind::Sign { call: origin.call })
        }
        Happened::Delegated { to, params } => Some(ActKind::Delegate { to, params, answer: None }),
        Happened::Asked { .. } => Some(ActKind::Ask),
        Happened::Said { .. } | Happened::Returned { .. } => Some(ActKind::Say),
        Happened::Reported { .. } => Some(ActKind::Report),
        Happened::UserSaid { .. }
        | Happened::Refused { .. }
        | Happened::Activated { .. }
        | Happened::Resolved { .. }
        | Happened::Prepared { .. }
        | Happened::Simulated { .. }
        | Happened::WouldBlock { .. }
        | Happened::Blocked { .. }
        | Happened::Confirmed { .. }
        | Happened::Answered { .. }
        | Happened::Decided { .. }
        | Happened::Messaged { .. }
        | Happened::Remembered { .. }
        | Happened::Recalled { .. }
        | Happened::HoleRead { .. }
        | Happened::Judged { .. }
        | Happened::Misjudged { .. }
        | Happened::Claimed { .. }
        | Happened::Revealed { .. }
        | Happened::Unmatched { .. }
        | Happened::Mined { .. } => None,
    }
}

fn settle(acts: &mut [Act<'_>], answered: u32, answer: &ToolAnswer) {
    let own = |act: &&mut Act<'_>| matches!(act.kind, ActKind::Call { call, .. } if call == answered);
    if let (Some(act), ToolAnswer::Error { .. }) = (acts.iter_mut().rev().find(own), answer) {
        act.failed = true;
    }
}

fn decide<'a>(acts: &mut Vec<Act<'a>>, event: &'a Event, said: Answer) {
    let asked = acts.iter_mut().rev().find(|act| matches!(&act.kind, ActKind::Delegate { to, answer: None, .. } if *to == event.by));
    match asked {
        Some(Act { done, done_ms, kind: ActKind::Delegate { answer, .. }, .. }) => {
            (*done, *done_ms, *answer) = (event.n, event.at_ms, Some(said));
        }
        Some(_) | None => acts.push(act(event, ActKind::Decide(said))),
    }
}

fn answer(decision: Decision) -> Answer {
    match decision {
        Decision::Approve => Answer::Approve,
        Decision::Veto => Answer::Veto,
    }
}

/// The arguments of the call whose answer carried the id.
fn prepared_args<'a>(events: &'a [Event], action_id: &str) -> Option<&'a Value> {
    let answered = |event: &Event| {
        let Happened::Answered { call, answer: ToolAnswer::Result(value) } = &event.happened else { return None };
        (value.get("action_id").and_then(Value::as_str) == Some(action_id)).then_some(*call)
    };
    let frozen = |event: &Event| {
        let Happened::Prepared { call, action } = &event.happened else { return None };
        (action.action_id == action_id).then_some(*call)
    };
    let minted = events.iter().find_map(|event| frozen(event).or_else(|| answered(event)))?;
    events.iter().find_map(|event| {
        let Happened::Called { call, args, .. } = &event.happened else { return None };
        (*call == minted).then_some(args)
    })
}

/// Returns whether calling the tool produces a signature by itself.
pub(super) fn signs(tool: &Tool) -> bool {
    tool.acts.class() == OpClass::Permit
}
