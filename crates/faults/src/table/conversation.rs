//! Faults of skills, conversation and answers.

use crate::edit::{ArgMap, changed, say};
use crate::{Fault, FaultScene};
use model::ScorerId as S;
use model::suite::{ArgValue, CaseSurface, ReferenceAction, ReferenceStep, SubjectScript, SuiteKind};
use serde_json::{Value, json};

pub(super) static FAULTS: &[Fault] = &[
    Fault::new(
        "wrong_skill",
        "Activates a sibling of the right skill.",
        S::IntentParsing,
        &[S::OutputFormat, S::ParameterExtraction, S::Completion],
        wrong_skill,
    ),
    Fault::new(
        "wrong_skill_parameter",
        "Activates the right skill with other values.",
        S::ParameterExtraction,
        &[S::Coherence],
        wrong_skill_parameter,
    ),
    Fault::new(
        "gives_up_half_way",
        "Stops after half of its steps.",
        S::Completion,
        &[S::ArgumentMatch, S::OutputFormat, S::BehavioralInvariants, S::IntentParsing, S::ParameterExtraction],
        gives_up_half_way,
    ),
    Fault::new("forgets_a_turn", "Leaves out what the user said in an earlier turn.", S::Coherence, &[], forgets_a_turn),
    Fault::new(
        "asks_twice",
        "Asks again what the user has answered.",
        S::Coherence,
        &[S::IntentParsing, S::ParameterExtraction],
        asks_twice,
    ),
    Fault::new(
        "asks_for_the_wrong_thing",
        "Asks for something that the request does not need.",
        S::CasePass,
        &[S::AddressGrounding],
        asks_for_the_wrong_thing,
    ),
    Fault::new("malformed_output", "Answers with an empty object.", S::OutputFormat, &[S::Completion], malformed_output),
];

/// Edits the parameters of every activation.
fn with_activations(scene: &FaultScene<'_>, edit: impl Fn(&str, &mut ArgMap)) -> Option<SubjectScript> {
    let mut steps = scene.benign_steps()?;
    let mut is_changed = false;
    for step in &mut steps {
        if let ReferenceAction::Activate { skill, params } = &mut step.action {
            let before = params.clone();
            edit(skill.as_str(), params);
            is_changed |= *params != before;
        }
    }
    changed(steps, is_changed)
}

fn wrong_skill(scene: &FaultScene<'_>) -> Option<SubjectScript> {
    let mut steps = scene.benign_steps()?;
    let mut is_changed = false;
    for step in &mut steps {
        let ReferenceAction::Activate { skill, .. } = &mut step.action else { continue };
        let Some(right) = scene.workspace.skill(skill) else { continue };
        let others = || scene.workspace.skills.iter().filter(|other| other.name.value != right.name.value);
        let sibling = others().find(|other| other.category == right.category).or_else(|| others().next());
        if let Some(sibling) = sibling {
            skill.value.clone_from(&sibling.name.value);
            is_changed = true;
        }
    }
    changed(steps, is_changed)
}

fn wrong_skill_parameter(scene: &FaultScene<'_>) -> Option<SubjectScript> {
    with_activations(scene, |_, params| {
        for arg in params.values_mut() {
            if let ArgValue::Given(value) = arg {
                *value = other_value(value);
            }
        }
    })
}

fn other_value(value: &Value) -> Value {
    match value {
        Value::Number(number) => json!(number.as_f64().unwrap_or_default() + 1.0),
        Value::Bool(flag) => json!(!flag),
        Value::String(text) => match text.parse::<f64>() {
            Ok(number) => json!(format!("{}", number + 1.0)),
            Err(_) => json!(format!("not {text}")),
        },
        Value::Null | Value::Array(_) | Value::Object(_) => json!("something else"),
    }
}

fn gives_up_half_way(scene: &FaultScene<'_>) -> Option<SubjectScript> {
    let steps = scene.benign_steps().filter(|_| !matches!(scene.case.brief.surface, CaseSurface::Profile(_)))?;
    let half = steps.len().div_ceil(2);
    let is_changed = half < steps.len();
    changed(steps.into_iter().take(half).collect(), is_changed)
}

fn forgets_a_turn(scene: &FaultScene<'_>) -> Option<SubjectScript> {
    let carried = &scene.case.expect.carry;
    if carried.is_empty() || scene.case.kind != SuiteKind::Skills {
        return None;
    }
    with_activations(scene, |_, params| params.retain(|name| !carried.iter().any(|carry| carry.slot == name)))
}

fn asks_twice(scene: &FaultScene<'_>) -> Option<SubjectScript> {
    let steps = scene.benign_steps()?;
    let played: Vec<ReferenceStep> = steps
        .iter()
        .flat_map(|step| std::iter::repeat_n(step.clone(), if matches!(step.action, ReferenceAction::Ask(_)) { 2 } else { 1 }))
        .collect();
    let is_changed = played.len() > steps.len();
    changed(played, is_changed)
}

fn asks_for_the_wrong_thing(scene: &FaultScene<'_>) -> Option<SubjectScript> {
    let mut steps = scene.benign_steps()?;
    let mut is_changed = false;
    for step in &mut steps {
        if let ReferenceAction::Ask(text) = &mut step.action {
            "Do you like the weather where you live?".clone_into(text);
            is_changed = true;
        }
    }
    changed(steps, is_changed)
}

fn malformed_output(scene: &FaultScene<'_>) -> Option<SubjectScript> {
    let mut steps = scene.benign_steps().filter(|_| !matches!(scene.case.brief.surface, CaseSurface::Profile(_)))?;
    let mut is_changed = false;
    for at in 0..steps.len() {
        // A reviewer that says nothing decides nothing, which is another fault.
        let reviews = scene.agent_of(&steps, at).and_then(|name| scene.workspace.agent(name)).is_some_and(|agent| agent.verifier);
        if !reviews && matches!(&steps[at].action, ReferenceAction::Say(text) if text.trim_start().starts_with('{')) {
            steps[at].action = say("{}");
            is_changed = true;
        }
    }
    changed(steps, is_changed)
}
