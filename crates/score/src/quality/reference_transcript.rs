//! Transcript of a reference run, built without a world. Used by the smoke checks and to test scorers.

use crate::compare::TypedArgs;
use model::suite::{ArgValue, Case, CaseSurface, NamedArgs, PeerMode, RecordedAnswer, ReferenceAction, ReferenceStep};
use model::transcript::{ReviewDecision, ToolAnswer};
use model::view::ASSISTANT;
use model::world::FixtureResult;
use model::{ContentHash, Ending, Event, EventKind, OpClass, Skill, SkillHandler, Tool, Transcript, Workspace};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Builds the transcript of a reference. Reviewers return `decision`, fixtures of the case answer first, quotes and dry runs
/// return an action id, and other tools return their first fixture of the world. There is no chain, so there are no transactions or balances.
pub fn transcript_from_reference(workspace: &Workspace, case: &Case, reference: &[ReferenceStep], decision: ReviewDecision) -> Transcript {
    let root = case.brief.surface.agent().map_or(ASSISTANT, |agent| agent.as_str());
    let carried_out = carried_out_skill(workspace, case, reference);
    let mut playback =
        ReferencePlayback { workspace, case, reference, decision, actions: BTreeMap::new(), undecided: BTreeMap::new(), steps: vec![] };
    playback.steps.push(("user".into(), EventKind::UserSaid { text: case.brief.user_script.opening().into() }));
    for (n, step) in (1_u32..).zip(reference) {
        match carried_out.filter(|(at, _)| n > *at) {
            Some((_, skill)) => playback.add_step(n, step, skill_agent(skill), None),
            None => playback.add_step(n, step, root, Some(root)),
        }
        if let Some((_, skill)) = carried_out.filter(|(at, _)| n == *at) {
            playback.start_skill(skill);
        }
    }
    let mut steps = playback.steps;
    // On a profile all calls are one move, so the answers follow the last call.
    if matches!(case.brief.surface, CaseSurface::Profile(_)) {
        steps.sort_by_key(|(_, happened)| matches!(happened, EventKind::Answered { .. }));
    }
    let mut active = vec![root.to_owned()];
    // The tool of a skill is called by the assistant, one level below the conversation.
    let by_assistant = carried_out.is_some_and(|(_, skill)| skill_agent(skill) == ASSISTANT);
    let event = |(n, (by, happened)): (u32, (String, EventKind))| {
        let depth = delegation_depth(&mut active, &by, &happened);
        if by_assistant && matches!(happened, EventKind::Activated { .. }) {
            active.push(ASSISTANT.to_owned());
        }
        Event { n, at_ms: u64::from(n) * 1000, by, depth, happened }
    };
    let events = (1..).zip(steps).map(event).collect();
    Transcript {
        trial: ContentHash::of_text(&case.id),
        case: case.id.value.clone(),
        subject: "rehearsal".into(),
        events,
        ending: Ending::Finished,
    }
}

/// Returns the number of the step that activates the skill to be carried out, and the skill.
fn carried_out_skill<'w>(workspace: &'w Workspace, case: &Case, reference: &[ReferenceStep]) -> Option<(u32, &'w Skill)> {
    let activations = (1_u32..).zip(reference).filter_map(|(n, step)| match &step.action {
        ReferenceAction::Activate { skill, .. } => Some((n, workspace.skill(skill)?)),
        ReferenceAction::Call { .. }
        | ReferenceAction::Delegate { .. }
        | ReferenceAction::Ask(_)
        | ReferenceAction::Say(_)
        | ReferenceAction::Report(_) => None,
    });
    activations.last().filter(|_| case.brief.carry_out)
}

/// Returns the agent that carries out a skill.
pub(crate) fn skill_agent(skill: &Skill) -> &str {
    match &skill.handler {
        SkillHandler::Agent(agent) => agent,
        SkillHandler::Tool(_) => ASSISTANT,
    }
}

struct ReferencePlayback<'w> {
    workspace: &'w Workspace,
    case: &'w Case,
    reference: &'w [ReferenceStep],
    decision: ReviewDecision,
    /// Ids of prepared actions, by the name of the preparing step.
    actions: BTreeMap<&'w str, String>,
    /// Decisions of reviewers that the subject plays, by reviewer, until they answer.
    undecided: BTreeMap<String, EventKind>,
    steps: Vec<(String, EventKind)>,
}

impl<'w> ReferencePlayback<'w> {
    /// Adds the hand-over of a skill to its agent, as the driver makes it.
    fn start_skill(&mut self, skill: &Skill) {
        let given = match self.steps.last() {
            Some((_, EventKind::Activated { params, .. })) => params.clone(),
            Some(_) | None => Map::new(),
        };
        if let SkillHandler::Agent(to) = &skill.handler {
            self.steps.push((ASSISTANT.to_owned(), EventKind::Delegated { to: to.value.clone(), params: skill.hand_over(given) }));
        }
    }

    /// Adds a step. Only `speaker` talks to the user; other agents return their answer.
    fn add_step(&mut self, n: u32, step: &'w ReferenceStep, actor: &str, speaker: Option<&str>) {
        let by = step.agent.as_ref().map_or(actor, |agent| agent.as_str()).to_owned();
        match &step.action {
            ReferenceAction::Call { tool, args } => {
                let args = Value::Object(self.resolve_args(args));
                let known = self.workspace.tool(tool);
                let prepares = known.is_some_and(|tool| tool.acts.class() == OpClass::Quote || tool.is_dry_run(&args));
                let id = format!("action-{n}");
                let answer = case_fixture(self.workspace, self.case, known, &args).unwrap_or_else(|| {
                    ToolAnswer::Result(if prepares { json!({"action_id": id}) } else { first_fixture(self.workspace, self.case, known) })
                });
                if let Some(name) = &step.name {
                    self.actions.insert(name, id);
                }
                self.steps.push((by.clone(), EventKind::Called { call: n, tool: tool.value.clone(), args }));
                self.steps.push((by, EventKind::Answered { call: n, answer }));
            }
            ReferenceAction::Delegate { to, params } => {
                let params = self.resolve_args(params);
                let action_id = params.get("action_id").and_then(Value::as_str).map(str::to_owned);
                self.steps.push((by, EventKind::Delegated { to: to.value.clone(), params }));
                // A reviewer that the subject plays decides with its answer, after its checks.
                let answers = |step: &ReferenceStep| {
                    matches!(step.action, ReferenceAction::Say(_)) && step.agent.as_ref().is_some_and(|agent| agent.value == to.value)
                };
                let decides_later = self.case.brief.peers == PeerMode::Own && self.reference.iter().skip(n as usize).any(answers);
                if self.workspace.review_role(to).is_some() {
                    let (decision, reason, calldata_hash, policy) = (self.decision, String::new(), None, None);
                    let decided = EventKind::Decided { action_id, decision, reason, calldata_hash, policy };
                    if decides_later {
                        self.undecided.insert(to.value.clone(), decided);
                    } else {
                        self.steps.push((to.value.clone(), decided));
                    }
                }
            }
            ReferenceAction::Activate { skill, params } => {
                let params = self.resolve_args(params);
                self.steps.push((by, EventKind::Activated { skill: skill.value.clone(), params }));
            }
            ReferenceAction::Ask(text) => self.steps.push((by, EventKind::Asked { text: text.clone() })),
            ReferenceAction::Say(text) if Some(by.as_str()) == speaker => self.steps.push((by, EventKind::Said { text: text.clone() })),
            ReferenceAction::Say(text) => {
                let decided = self.undecided.remove(&by).map(|decided| (by.clone(), decided));
                self.steps.extend(decided);
                self.steps.push((by, EventKind::Returned { text: text.clone() }));
            }
            ReferenceAction::Report(text) => self.steps.push((by, EventKind::Reported { text: text.clone() })),
        }
    }

    fn resolve_args(&self, args: &NamedArgs<ArgValue>) -> Map<String, Value> {
        let value = |arg: &ArgValue| match arg {
            ArgValue::Given(value) => value.clone(),
            ArgValue::From { step, path } if path == "action_id" => self.actions.get(step.as_str()).map_or(Value::Null, |id| json!(id)),
            ArgValue::From { step, path } => self.earlier_answer(step, path),
        };
        args.iter().map(|(name, arg)| (name.to_owned(), value(arg))).collect()
    }

    /// Returns the value at `path` in the fixture that answers an earlier step.
    fn earlier_answer(&self, step: &str, path: &str) -> Value {
        let called = self.reference.iter().find(|other| other.name.as_deref() == Some(step)).and_then(|other| match &other.action {
            ReferenceAction::Call { tool, args } => self.workspace.tool(tool).map(|tool| (tool, args)),
            ReferenceAction::Delegate { .. }
            | ReferenceAction::Activate { .. }
            | ReferenceAction::Ask(_)
            | ReferenceAction::Say(_)
            | ReferenceAction::Report(_) => None,
        });
        let pointer = format!("/{}", path.replace('.', "/"));
        let answer = |(tool, args): (&Tool, &NamedArgs<ArgValue>)| {
            // Back-references of the earlier step are not resolved again: a loop would not end.
            let given = args
                .iter()
                .filter_map(|(name, arg)| if let ArgValue::Given(value) = arg { Some((name.to_owned(), value.clone())) } else { None });
            match case_fixture(self.workspace, self.case, Some(tool), &Value::Object(given.collect())) {
                Some(ToolAnswer::Result(value)) => value,
                Some(ToolAnswer::Error { .. }) => Value::Null,
                None => first_fixture(self.workspace, self.case, Some(tool)),
            }
        };
        called.and_then(|called| answer(called).pointer(&pointer).cloned()).unwrap_or_default()
    }
}

/// Returns the delegation depth of the acting agent. `active` is the stack of active agents, the root first.
fn delegation_depth(active: &mut Vec<String>, by: &str, happened: &EventKind) -> u32 {
    let at = active.iter().rposition(|agent| agent == by).unwrap_or(0);
    if by != "user" {
        active.truncate(at + 1);
    }
    if let EventKind::Delegated { to, .. } = happened {
        active.push(to.clone());
    }
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// Returns the answer of the first fixture of the case that matches the call.
fn case_fixture(workspace: &Workspace, case: &Case, tool: Option<&Tool>, args: &Value) -> Option<ToolAnswer> {
    let tool = tool?;
    let given = TypedArgs::for_call(workspace, tool, args);
    let mut fixtures = case.brief.fixtures.iter().filter(|fixture| tool.has_name(&fixture.tool));
    let found = fixtures.find(|fixture| fixture.when.iter().all(|(name, wanted)| given.satisfies(name, wanted)))?;
    Some(match &found.answer {
        RecordedAnswer::Result(value) => ToolAnswer::Result(value.clone()),
        RecordedAnswer::Error { code, message } => ToolAnswer::Error { code: code.clone(), message: message.clone() },
    })
}

/// Returns the first fixture of a tool, or `{"ok": true}`.
fn first_fixture(workspace: &Workspace, case: &Case, tool: Option<&Tool>) -> Value {
    let answers = workspace.world(&case.brief.world).zip(tool).and_then(|(world, tool)| world.fixtures.get(tool.name.as_str()));
    match answers.and_then(|answers| answers.rows.first()).map(|row| &row.result) {
        Some(FixtureResult::Value(value)) => value.clone(),
        Some(FixtureResult::Error { .. }) | None => json!({"ok": true}),
    }
}
