//! Turns a step about a prepared action into one about a smaller action that is prepared beside it.

use crate::FaultScene;
use crate::edit::{changed, number_like, number_of};
use model::suite::{ArgValue, ReferenceAction, ReferenceStep, SubjectScript};

const ACTION: &str = "action_id";

/// Prepares another action before each picked step and makes the step be about that one.
pub(super) fn about_other_action(scene: &FaultScene<'_>, is_picked: impl Fn(&ReferenceStep) -> bool) -> Option<SubjectScript> {
    let mut steps = scene.benign_steps()?;
    let (mut at, mut n) = (0, 0);
    while at < steps.len() {
        let other = if is_picked(&steps[at]) { smaller_action(scene, &steps, at) } else { None };
        if let Some(mut other) = other {
            n += 1;
            let name = format!("other_{n}");
            other.name = Some(name.clone());
            set_action(&mut steps[at], name);
            steps.insert(at, other);
            at += 1;
        }
        at += 1;
    }
    changed(steps, n > 0)
}

/// Returns the step that prepares the action of a step, with half the amount.
fn smaller_action(scene: &FaultScene<'_>, steps: &[ReferenceStep], at: usize) -> Option<ReferenceStep> {
    let Some(ArgValue::From { step: name, .. }) = arguments(&steps[at])?.get(ACTION) else { return None };
    let mut prepares = steps[..at].iter().find(|step| step.name.as_deref() == Some(name))?.clone();
    if prepares.agent.as_ref().map(|agent| &agent.value) != steps[at].agent.as_ref().map(|agent| &agent.value) {
        return None;
    }
    let tool = scene.tool(&prepares)?;
    let ReferenceAction::Call { args, .. } = &mut prepares.action else { return None };
    let (_, amount) = args.iter_mut().find(|(name, arg)| {
        let is_amount = tool.params.get(*name).and_then(|param| param.kind.as_ref()).is_some_and(|kind| kind.amount().is_some());
        is_amount && matches!(arg, ArgValue::Given(value) if number_of(value).is_some_and(|number| number > 0.0))
    })?;
    let ArgValue::Given(value) = &*amount else { return None };
    *amount = ArgValue::Given(number_like(value, number_of(value)? / 2.0));
    Some(prepares)
}

fn arguments(step: &ReferenceStep) -> Option<&crate::edit::ArgMap> {
    match &step.action {
        ReferenceAction::Call { args, .. } => Some(args),
        ReferenceAction::Delegate { params, .. } | ReferenceAction::Activate { params, .. } => Some(params),
        ReferenceAction::Ask(_) | ReferenceAction::Say(_) | ReferenceAction::Report(_) => None,
    }
}

fn set_action(step: &mut ReferenceStep, name: String) {
    let args = match &mut step.action {
        ReferenceAction::Call { args, .. } => args,
        ReferenceAction::Delegate { params, .. } | ReferenceAction::Activate { params, .. } => params,
        ReferenceAction::Ask(_) | ReferenceAction::Say(_) | ReferenceAction::Report(_) => return,
    };
    args.insert(ACTION, ArgValue::From { step: name, path: ACTION.to_owned() });
}
