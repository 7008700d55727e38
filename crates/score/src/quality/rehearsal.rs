//! A reference written down as it would happen, without a world: what smoke plays, and a test of every scorer.

use indexmap::IndexMap;
use model::suite::{ArgValue, Case, RefDoes, RefStep, Surface};
use model::transcript::{Decision, ToolAnswer};
use model::world::Gives;
use model::{Ending, Event, Happened, Hash, OpClass, Tool, Transcript, Workspace};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// What stands in for the world: whoever is asked to decide decides like this, whatever prepares an action answers with an id for it,
/// and other tools answer with their first fixture. There is no chain, so nothing can be said about balances.
pub fn rehearse(workspace: &Workspace, case: &Case, reference: &[RefStep], decision: Decision) -> Transcript {
    let seat = case.brief.surface.agent().map_or("assistant", |agent| agent.as_str());
    let mut script = Script { workspace, case, reference, decision, actions: BTreeMap::new(), steps: vec![] };
    script.steps.push(("user".into(), Happened::UserSaid { text: case.brief.talk.opening().into() }));
    for (n, step) in (1_u32..).zip(reference) {
        script.play(n, step, seat);
    }
    let mut steps = script.steps;
    // On a profile the calls are one move: they are answered when all of them are made.
    if matches!(case.brief.surface, Surface::Profile(_)) {
        steps.sort_by_key(|(_, happened)| matches!(happened, Happened::Answered { .. }));
    }
    let mut seats = vec![seat.to_owned()];
    let event = |(n, (by, happened)): (u32, (String, Happened))| {
        let depth = depth(&mut seats, &by, &happened);
        Event { n, at_ms: u64::from(n) * 1000, by, depth, happened }
    };
    let events = (1..).zip(steps).map(event).collect();
    Transcript {
        trial: Hash::of_text(&case.id),
        case: case.id.value.clone(),
        subject: "rehearsal".into(),
        events,
        ending: Ending::Finished,
    }
}

struct Script<'w> {
    workspace: &'w Workspace,
    case: &'w Case,
    reference: &'w [RefStep],
    decision: Decision,
    /// The ids of prepared actions, by the name of the step that prepared them.
    actions: BTreeMap<&'w str, String>,
    steps: Vec<(String, Happened)>,
}

impl<'w> Script<'w> {
    fn play(&mut self, n: u32, step: &'w RefStep, seat: &str) {
        let by = step.agent.as_ref().map_or(seat, |agent| agent.as_str()).to_owned();
        match &step.does {
            RefDoes::Call { tool, args } => {
                let args = Value::Object(self.given(args));
                let known = self.workspace.tool(tool);
                let prepares =
                    known.is_some_and(|tool| tool.acts.class() == OpClass::Quote) || args.get("dry_run") == Some(&Value::Bool(true));
                let id = format!("action-{n}");
                let answer = if prepares { json!({"action_id": id}) } else { answered(self.workspace, self.case, known) };
                if let Some(name) = &step.name {
                    self.actions.insert(name, id);
                }
                self.steps.push((by.clone(), Happened::Called { call: n, tool: tool.value.clone(), args }));
                self.steps.push((by, Happened::Answered { call: n, answer: ToolAnswer::Result(answer) }));
            }
            RefDoes::Delegate { to, params } => {
                let params = self.given(params);
                let action_id = params.get("action_id").and_then(Value::as_str).map(str::to_owned);
                self.steps.push((by, Happened::Delegated { to: to.value.clone(), params }));
                if self.workspace.review_role(to).is_some() {
                    let (decision, reason, calldata_hash, policy) = (self.decision, String::new(), None, None);
                    self.steps.push((to.value.clone(), Happened::Decided { action_id, decision, reason, calldata_hash, policy }));
                }
            }
            RefDoes::Activate { skill, params } => {
                let params = self.given(params);
                self.steps.push((by, Happened::Activated { skill: skill.value.clone(), params }));
            }
            RefDoes::Ask(text) => self.steps.push((by, Happened::Asked { text: text.clone() })),
            RefDoes::Say(text) if by == seat => self.steps.push((by, Happened::Said { text: text.clone() })),
            RefDoes::Say(text) => self.steps.push((by, Happened::Returned { text: text.clone() })),
            RefDoes::Report(text) => self.steps.push((by, Happened::Reported { text: text.clone() })),
        }
    }

    fn given(&self, args: &IndexMap<String, ArgValue>) -> Map<String, Value> {
        let value = |arg: &ArgValue| match arg {
            ArgValue::Given(value) => value.clone(),
            ArgValue::From { step, path } if path == "action_id" => self.actions.get(step.as_str()).map_or(Value::Null, |id| json!(id)),
            ArgValue::From { step, path } => self.earlier(step, path),
        };
        args.iter().map(|(name, arg)| (name.clone(), value(arg))).collect()
    }

    /// What the world's fixture says at a path of the answer to an earlier step.
    fn earlier(&self, step: &str, path: &str) -> Value {
        let tool = self.reference.iter().find(|one| one.name.as_deref() == Some(step)).and_then(|one| match &one.does {
            RefDoes::Call { tool, .. } => self.workspace.tool(tool),
            RefDoes::Delegate { .. } | RefDoes::Activate { .. } | RefDoes::Ask(_) | RefDoes::Say(_) | RefDoes::Report(_) => None,
        });
        let pointer = format!("/{}", path.replace('.', "/"));
        tool.and_then(|tool| answered(self.workspace, self.case, Some(tool)).pointer(&pointer).cloned()).unwrap_or_default()
    }
}

/// Hops from the seat to whoever acts; `seats` are those at work, from the seat down.
fn depth(seats: &mut Vec<String>, by: &str, happened: &Happened) -> u32 {
    let at = seats.iter().rposition(|seated| seated == by).unwrap_or(0);
    if by != "user" {
        seats.truncate(at + 1);
    }
    if let Happened::Delegated { to, .. } = happened {
        seats.push(to.clone());
    }
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// The first fixture of a tool.
fn answered(workspace: &Workspace, case: &Case, tool: Option<&Tool>) -> Value {
    let answers = workspace.world(&case.brief.world).zip(tool).and_then(|(world, tool)| world.answers.get(tool.name.as_str()));
    match answers.and_then(|answers| answers.rows.first()).map(|row| &row.gives) {
        Some(Gives::Value(value)) => value.clone(),
        Some(Gives::Error { .. }) | None => json!({"ok": true}),
    }
}
