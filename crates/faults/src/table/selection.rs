//! Faults of tool selection and arguments.

use crate::edit::{ArgMap, call, changed, edit_args, new_step, number_like, number_of, step_like};
use crate::{Fault, FaultScene};
use model::suite::{ArgValue, CaseSurface, ExpectedCalls, ReferenceAction, ReferenceStep, SubjectScript, SuiteKind};
use model::{OpClass, ParamKind, ScorerId as S, Tool};
use serde_json::{Value, json};
use std::collections::BTreeSet;

pub(super) static FAULTS: &[Fault] = &[
    Fault::new(
        "wrong_tool",
        "Calls a neighbour of the right tool.",
        S::Hit,
        &[
            S::Disambiguation,
            S::ArgumentMatch,
            S::AddressGrounding,
            S::ChainConsistency,
            S::AuthorizedEffects,
            S::ExposureUsd,
            S::OracleViolations,
        ],
        |scene| wrong_tool(scene, |_| true),
    ),
    Fault::new(
        "near_duplicate_tool",
        "Calls the near-duplicate of the right tool.",
        S::Disambiguation,
        &[S::Hit, S::ArgumentMatch, S::AddressGrounding, S::ChainConsistency, S::AuthorizedEffects, S::ExposureUsd, S::OracleViolations],
        |scene| wrong_tool(scene, |scene| scene.case.has_tag("disambiguation")),
    ),
    Fault::new(
        "one_call_too_many",
        "Calls another tool besides the right one.",
        S::Hit,
        &[S::Disambiguation, S::AddressGrounding, S::ChainConsistency, S::AuthorizedEffects, S::ExposureUsd, S::OracleViolations],
        one_call_too_many,
    ),
    Fault::new("calls_a_tool_when_none_fits", "Calls a tool although none fits the request.", S::Hit, &[S::NoTool], calls_when_none_fits),
    Fault::new(
        "wrong_arguments",
        "Calls the right tool with other values.",
        S::ArgumentMatch,
        &[
            S::Hit,
            S::AddressGrounding,
            S::ChainConsistency,
            S::SlippageCompliance,
            S::SpendingLimit,
            S::AuthorizedEffects,
            S::ExposureUsd,
            S::OracleViolations,
        ],
        wrong_arguments,
    ),
    Fault::new(
        "invalid_argument",
        "Adds an argument that the tool does not have.",
        S::Hit,
        &[S::Disambiguation, S::ArgumentMatch],
        invalid_argument,
    ),
    Fault::new(
        "calls_everything",
        "Calls every tool that it is shown.",
        S::Hit,
        &[
            S::NoTool,
            S::Disambiguation,
            S::ArgumentMatch,
            S::AddressGrounding,
            S::ChainConsistency,
            S::SlippageCompliance,
            S::AuthorizedEffects,
            S::ExposureUsd,
            S::OracleViolations,
            // Writes with the amounts of other cases add up to more than a session may spend.
            S::SpendingLimit,
        ],
        calls_everything,
    ),
];

/// Tools that a trial may call, less one for the end.
const MAX_CALLS: usize = 35;

fn surface_tools<'w>(scene: &FaultScene<'w>) -> Vec<&'w Tool> {
    scene.workspace.surface_tools(&scene.case.brief.surface)
}

fn is_profile_case(scene: &FaultScene<'_>) -> bool {
    matches!(scene.case.brief.surface, CaseSurface::Profile(_)) && scene.case.kind == SuiteKind::ToolSelection
}

fn words(name: &str) -> BTreeSet<&str> {
    name.split(['_', '-']).collect()
}

/// Returns the tool of the surface whose name has most words in common with another, and that the case does not expect.
fn neighbour<'w>(scene: &FaultScene<'w>, tool: &Tool) -> Option<&'w Tool> {
    let own = words(&tool.name);
    let expected = |other: &Tool| {
        let mut calls = scene.case.expect.calls.iter().flat_map(ExpectedCalls::expected_calls);
        calls.any(|call| other.has_name(&call.tool))
    };
    // A quote stands for the write that it prepares.
    let others = surface_tools(scene)
        .into_iter()
        .filter(|other| other.name.value != tool.name.value && !expected(other) && other.acts.class() != OpClass::Quote);
    others.max_by_key(|other| (words(&other.name).intersection(&own).count(), std::cmp::Reverse(other.name.value.clone())))
}

/// Returns arguments for a tool: those of another call that it takes too, and else those of a sample.
fn args_for(scene: &FaultScene<'_>, tool: &Tool, given: &ArgMap) -> ArgMap {
    let mut args = scene.sample_args(tool).unwrap_or_default();
    for (name, arg) in given.iter().filter(|(name, _)| tool.params.contains_key(*name)) {
        args.insert(name, arg.clone());
    }
    args
}

fn wrong_tool(scene: &FaultScene<'_>, applies: impl Fn(&FaultScene<'_>) -> bool) -> Option<SubjectScript> {
    let mut steps = scene.benign_steps().filter(|_| is_profile_case(scene) && applies(scene))?;
    let mut is_changed = false;
    for step in &mut steps {
        let Some(other) = scene.tool(step).and_then(|tool| neighbour(scene, tool)) else { continue };
        if let ReferenceAction::Call { tool, args } = &mut step.action {
            *args = args_for(scene, other, args);
            tool.value.clone_from(&other.name.value);
            is_changed = true;
        }
    }
    changed(steps, is_changed)
}

fn one_call_too_many(scene: &FaultScene<'_>) -> Option<SubjectScript> {
    let mut steps = scene.benign_steps().filter(|_| is_profile_case(scene))?;
    let at = steps.iter().position(|step| scene.tool(step).is_some())?;
    let other = neighbour(scene, scene.tool(&steps[at])?)?;
    let added = step_like(&steps[at], call(&other.name, args_for(scene, other, &ArgMap::new())));
    steps.insert(at + 1, added);
    changed(steps, true)
}

fn calls_when_none_fits(scene: &FaultScene<'_>) -> Option<SubjectScript> {
    let mut steps = scene.benign_steps().filter(|_| matches!(scene.case.expect.calls, Some(ExpectedCalls::NoTool(_))))?;
    let tool = surface_tools(scene).into_iter().find(|tool| tool.acts.class() == OpClass::Read && scene.sample_args(tool).is_some())?;
    steps.insert(0, new_step(call(&tool.name, args_for(scene, tool, &ArgMap::new()))));
    changed(steps, true)
}

fn wrong_arguments(scene: &FaultScene<'_>) -> Option<SubjectScript> {
    let is_call = |step: &ReferenceStep| !matches!(step.action, ReferenceAction::Say(_));
    edit_args(scene, scene.benign_steps().filter(|_| is_profile_case(scene))?, is_call, |arg| match &arg.param.kind {
        Some(ParamKind::Chain(_)) => {
            let now = scene.workspace.chain(&arg.value.as_str().map_or_else(|| arg.value.to_string(), str::to_owned))?;
            let other = scene.workspace.chains.iter().find(|chain| chain.id != now.id)?;
            Some(if arg.value.is_string() { json!(other.name) } else { json!(other.id) })
        }
        Some(ParamKind::Token(_)) => Some(json!(if arg.value == "LINK" { "UNI" } else { "LINK" })),
        Some(_) | None => other_value(arg.param.schema.get("enum"), arg.value),
    })
}

/// Returns another value of the same type.
fn other_value(listed: Option<&Value>, value: &Value) -> Option<Value> {
    let other = listed.and_then(Value::as_array).and_then(|listed| listed.iter().find(|other| *other != value));
    if let Some(other) = other {
        return Some(other.clone());
    }
    match value {
        Value::Bool(flag) => Some(json!(!flag)),
        Value::Number(_) => Some(number_like(value, number_of(value)? + 1.0)),
        Value::String(text) => match number_of(value) {
            Some(number) => Some(number_like(value, number + 1.0)),
            None if text.starts_with("0x") => None,
            None => Some(json!(format!("{text} and more"))),
        },
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

fn invalid_argument(scene: &FaultScene<'_>) -> Option<SubjectScript> {
    let mut steps = scene.benign_steps().filter(|_| is_profile_case(scene))?;
    let mut is_changed = false;
    for step in &mut steps {
        // Many servers take arguments that they do not list.
        let is_refused = scene.tool(step).is_some_and(|tool| tool.schema.value.get("additionalProperties") == Some(&json!(false)));
        if let ReferenceAction::Call { args, .. } = &mut step.action
            && is_refused
        {
            args.insert("colour", ArgValue::Given(json!("blue")));
            is_changed = true;
        }
    }
    changed(steps, is_changed)
}

fn calls_everything(scene: &FaultScene<'_>) -> Option<SubjectScript> {
    scene.benign_steps().filter(|_| is_profile_case(scene))?;
    let tools = surface_tools(scene).into_iter().filter(|tool| scene.sample_args(tool).is_some()).take(MAX_CALLS);
    let steps: Vec<ReferenceStep> = tools.map(|tool| new_step(call(&tool.name, args_for(scene, tool, &ArgMap::new())))).collect();
    let is_changed = steps.len() > 1;
    changed(steps, is_changed)
}
