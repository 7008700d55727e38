//! Parts of a workspace that a case uses, read from its expectations and reference.

use model::suite::{ArgValue, Case, CaseSurface, NamedArgs, PeerMode, ReferenceAction, SuiteKind, UserScript};
use model::{OpClass, ParamKind, Tool, Workspace};
use serde_json::Value;
use std::collections::BTreeSet;

/// Prefix of tags that name the language of a case.
const LANGUAGE_TAG: &str = "lang_";

/// Returns the language of the user's messages; English has no tag.
pub(super) fn language(case: &Case) -> &str {
    case.tags.iter().find_map(|tag| tag.strip_prefix(LANGUAGE_TAG)).unwrap_or("en")
}

/// Returns the number of user turns in words.
pub(super) fn turns(case: &Case) -> &'static str {
    match &case.brief.user_script {
        UserScript::Persona(_) => "simulated user",
        UserScript::Turns(turns) => match turns.len() {
            0 | 1 => "1",
            2 => "2",
            _ => "3 or more",
        },
    }
}

pub(super) fn has_simulated_user(case: &Case) -> bool {
    matches!(case.brief.user_script, UserScript::Persona(_))
}

pub(super) fn is_flow_with_own_peers(case: &Case) -> bool {
    case.kind == SuiteKind::Composition && case.brief.peers == PeerMode::Own
}

/// Returns the agents that the case tests: the agent of the surface.
pub(super) fn seated_agent(case: &Case) -> Option<&str> {
    match &case.brief.surface {
        CaseSurface::Agent(name) => Some(name.as_str()),
        CaseSurface::Profile(_) | CaseSurface::Skills => None,
    }
}

/// Returns the tools that the case expects.
pub(super) fn expected_tools<'w>(workspace: &'w Workspace, case: &Case) -> BTreeSet<&'w str> {
    let calls = case.expect.calls.iter().flat_map(|calls| calls.expected_calls());
    calls.filter_map(|call| workspace.tool(&call.tool)).map(|tool| tool.name.as_str()).collect()
}

/// Returns the write tools that the reference uses, dry runs excluded.
pub(super) fn write_tools_used<'w>(workspace: &'w Workspace, case: &'w Case) -> BTreeSet<&'w str> {
    real_writes(workspace, case).map(|tool| tool.name.as_str()).collect()
}

/// Returns whether the reference swaps in a suite of skills or flows.
pub(super) fn swaps_in_skill_or_flow(workspace: &Workspace, case: &Case) -> bool {
    matches!(case.kind, SuiteKind::Skills | SuiteKind::Composition)
        && real_writes(workspace, case).any(|tool| tool.acts.class() == OpClass::Swap)
}

fn real_writes<'w>(workspace: &'w Workspace, case: &'w Case) -> impl Iterator<Item = &'w Tool> {
    calls(case).filter(|(_, args)| !is_dry_run(args)).filter_map(|(name, _)| workspace.tool(name)).filter(|tool| tool.writes())
}

fn calls(case: &Case) -> impl Iterator<Item = (&str, &NamedArgs<ArgValue>)> {
    case.reference.iter().filter_map(|step| match &step.action {
        ReferenceAction::Call { tool, args } => Some((tool.as_str(), args)),
        ReferenceAction::Delegate { .. }
        | ReferenceAction::Activate { .. }
        | ReferenceAction::Ask(_)
        | ReferenceAction::Say(_)
        | ReferenceAction::Report(_) => None,
    })
}

fn is_dry_run(args: &NamedArgs<ArgValue>) -> bool {
    args.get("dry_run") == Some(&ArgValue::Given(Value::Bool(true)))
}

/// Returns the delegations of the reference, from and to.
pub(super) fn delegations(case: &Case) -> BTreeSet<(&str, &str)> {
    case.reference
        .iter()
        .filter_map(|step| {
            let ReferenceAction::Delegate { to, .. } = &step.action else { return None };
            let from = step.agent.as_ref().map(|agent| agent.as_str()).or_else(|| seated_agent(case))?;
            Some((from, to.as_str()))
        })
        .collect()
}

/// Returns the chains that the case is about: those of the intent and those that arguments of the reference name.
pub(super) fn chains(workspace: &Workspace, case: &Case) -> BTreeSet<u64> {
    let named = calls(case).filter_map(|(name, args)| Some((workspace.tool(name)?, args))).flat_map(|(tool, args)| {
        args.iter().filter_map(|(param, value)| {
            let ArgValue::Given(value) = value else { return None };
            let is_chain = matches!(tool.params.get(param)?.kind, Some(ParamKind::Chain(_)));
            let word = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            workspace.chain(&word).filter(|_| is_chain).map(|chain| chain.id)
        })
    });
    case.intent.chains.iter().copied().chain(named).collect()
}
