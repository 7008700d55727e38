//! Edits of the steps of a reference.

use crate::scene::FaultScene;
use model::suite::{ArgValue, LastMove, NamedArgs, ReferenceAction, ReferenceStep, ScriptAttitude, SubjectScript};
use model::{Location, ParamSpec, Spanned, Tool};
use serde_json::Value;

/// Named values of a call, delegation or activation.
pub(crate) type ArgMap = NamedArgs<ArgValue>;

/// Returns the script if an edit changed something.
pub(crate) fn changed(steps: Vec<ReferenceStep>, is_changed: bool) -> Option<SubjectScript> {
    is_changed.then(|| SubjectScript::new(steps))
}

pub(crate) fn ending_with(steps: Vec<ReferenceStep>, last: LastMove) -> SubjectScript {
    SubjectScript { last, ..SubjectScript::new(steps) }
}

pub(crate) fn with_attitude(steps: Vec<ReferenceStep>, attitude: ScriptAttitude) -> SubjectScript {
    SubjectScript { attitude, ..SubjectScript::new(steps) }
}

/// Returns a new step without an agent.
pub(crate) fn new_step(action: ReferenceAction) -> ReferenceStep {
    ReferenceStep { agent: None, action, name: None, at: Location::new("fault", 1) }
}

/// Returns a new step of the agent that makes another one.
pub(crate) fn step_like(like: &ReferenceStep, action: ReferenceAction) -> ReferenceStep {
    ReferenceStep { agent: like.agent.clone(), action, name: None, at: like.at.clone() }
}

pub(crate) fn spanned(text: &str) -> Spanned<String> {
    Spanned::new(text.to_owned(), Location::new("fault", 1))
}

pub(crate) fn say(text: &str) -> ReferenceAction {
    ReferenceAction::Say(text.to_owned())
}

pub(crate) fn call(tool: &str, args: ArgMap) -> ReferenceAction {
    ReferenceAction::Call { tool: spanned(tool), args }
}

pub(crate) fn delegate(to: &str, params: ArgMap) -> ReferenceAction {
    ReferenceAction::Delegate { to: spanned(to), params }
}

/// Removes the steps that a condition picks.
pub(crate) fn without(steps: Vec<ReferenceStep>, is_left_out: impl Fn(&ReferenceStep) -> bool) -> Option<SubjectScript> {
    let before = steps.len();
    let kept: Vec<ReferenceStep> = steps.into_iter().filter(|step| !is_left_out(step)).collect();
    let is_changed = kept.len() < before;
    changed(kept, is_changed)
}

/// Moves every picked step behind the next step that `goal` picks. Steps without such a goal stay.
pub(crate) fn move_behind(
    mut steps: Vec<ReferenceStep>,
    is_moved: impl Fn(&ReferenceStep) -> bool,
    goal: impl Fn(&ReferenceStep) -> bool,
) -> Option<SubjectScript> {
    let (mut at, mut is_changed) = (0, false);
    while at < steps.len() {
        let behind = if is_moved(&steps[at]) { steps[at..].iter().position(&goal).map(|n| at + n) } else { None };
        match behind {
            Some(behind) => {
                steps[at..=behind].rotate_left(1);
                is_changed = true;
                // The step that was moved is not looked at again.
                at = behind + 1;
            }
            None => at += 1,
        }
    }
    changed(steps, is_changed)
}

/// Argument of a call, as an edit sees it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ArgOfCall<'a> {
    pub tool: &'a Tool,
    pub param: &'a ParamSpec,
    pub value: &'a Value,
    /// All arguments of the call.
    pub args: &'a ArgMap,
}

/// Replaces literal arguments of the picked calls, where `edit` returns another value.
pub(crate) fn edit_args(
    scene: &FaultScene<'_>,
    steps: Vec<ReferenceStep>,
    is_edited: impl Fn(&ReferenceStep) -> bool,
    edit: impl Fn(ArgOfCall<'_>) -> Option<Value>,
) -> Option<SubjectScript> {
    let mut steps = steps;
    let mut is_changed = false;
    for step in &mut steps {
        let Some(tool) = scene.tool(step).filter(|_| is_edited(step)) else { continue };
        let ReferenceAction::Call { args, .. } = &mut step.action else { continue };
        let before = args.clone();
        for (name, arg) in args.iter_mut() {
            let (ArgValue::Given(value), Some(param)) = (&*arg, tool.params.get(name)) else { continue };
            let edited = edit(ArgOfCall { tool, param, value, args: &before });
            if let Some(edited) = edited.filter(|edited| edited != value) {
                *arg = ArgValue::Given(edited);
                is_changed = true;
            }
        }
    }
    changed(steps, is_changed)
}

/// Returns a number that is written as text or as a number.
pub(crate) fn number_of(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str().and_then(|text| text.parse().ok()))
}

/// Writes a number in the form of another value: as text or as a number.
pub(crate) fn number_like(like: &Value, number: f64) -> Value {
    let text = format!("{number}");
    if like.is_string() {
        return Value::String(text);
    }
    serde_json::from_str(&text).unwrap_or_else(|_| Value::String(text))
}
