//! Every case has a valid reference run. The reference run proves that the case can be passed.

use super::words::{exact_tool, suggest_name, surface_exists};
use super::{Check, ExampleWorkspace, FindingCollector};
use crate::quality::skill_agent;
use model::suite::{Case, CaseSurface, ExpectedCalls, ReferenceAction, ReferenceStep};
use model::{Spanned, Workspace};
use std::collections::BTreeSet;

pub(super) struct ReferencePresent;

impl Check for ReferencePresent {
    fn id(&self) -> &'static str {
        "reference_present"
    }

    fn manual(&self) -> &'static str {
        "Every case has a reference run: its agents exist, hold the tools they call under their canonical names and delegate along \
         existing edges; on the skill surface it activates a skill, and the names of its answers are unique. An impossible case would look \
         like a bad agent."
    }

    fn check(&self, workspace: &Workspace, found: &mut FindingCollector) {
        for case in workspace.cases() {
            found.record_examined();
            if case.reference.is_empty() {
                found.error(&case.at, format!("case {} has no reference", *case.id), "write down the steps of a run that passes");
                continue;
            }
            check_activates(case, found);
            check_no_step_after_calls(case, found);
            let mut names = BTreeSet::new();
            // Agents that may act: the root agent of the surface, then every delegation target.
            let mut active: BTreeSet<&str> = case.brief.surface.agent().iter().map(|agent| agent.as_str()).collect();
            for step in &case.reference {
                if let Some(name) = step.name.as_ref().filter(|name| !names.insert(name.as_str())) {
                    found.error(&step.at, format!("two answers of case {} are named {name}", *case.id), "choose another name for as:");
                }
                check_actor(workspace, case, step, &active, found);
                check_step(workspace, case, step, found);
                // Report an agent that acts without a delegation only once.
                active.extend(step.agent.iter().map(|agent| agent.as_str()));
                match &step.action {
                    ReferenceAction::Delegate { to, .. } => drop(active.insert(to)),
                    ReferenceAction::Activate { skill, .. } if case.brief.carry_out => {
                        active.extend(workspace.skill(skill).map(skill_agent));
                    }
                    ReferenceAction::Activate { .. }
                    | ReferenceAction::Call { .. }
                    | ReferenceAction::Ask(_)
                    | ReferenceAction::Say(_)
                    | ReferenceAction::Report(_) => {}
                }
            }
        }
    }

    fn rejects(&self) -> ExampleWorkspace {
        ExampleWorkspace::minimal().edit(
            "suites/composition/desk_to_trader.yaml",
            "agent: trader, call: tx_simulate",
            "agent: desk, call: tx_simulate",
        )
    }
}

/// Checks that a skill is activated, unless the case expects a question or that no skill fits.
fn check_activates(case: &Case, found: &mut FindingCollector) {
    let may_end_without = !case.expect.ask.is_empty() || matches!(case.expect.calls, Some(ExpectedCalls::NoTool(_)));
    let activates = case.reference.iter().any(|step| matches!(step.action, ReferenceAction::Activate { .. }));
    if matches!(case.brief.surface, CaseSurface::Skills) && !activates && !may_end_without {
        found.error(&case.at, format!("the reference of case {} activates no skill", *case.id), "add a step { activate: …, params: {…} }");
    }
}

/// Checks that no step follows the calls on a profile, where the trial ends with the first move that calls tools.
fn check_no_step_after_calls(case: &Case, found: &mut FindingCollector) {
    if !matches!(case.brief.surface, CaseSurface::Profile(_)) {
        return;
    }
    let is_call = |step: &&ReferenceStep| matches!(step.action, ReferenceAction::Call { .. });
    let unplayed = case.reference.iter().skip_while(|step| !is_call(step)).find(|step| !is_call(step));
    if let Some(step) = unplayed {
        let what = format!("the trial of case {} ends before this step", *case.id);
        found.error(&step.at, what, "on a profile only the first calls count; remove the step");
    }
}

fn check_actor(workspace: &Workspace, case: &Case, step: &ReferenceStep, active: &BTreeSet<&str>, found: &mut FindingCollector) {
    let Some(agent) = &step.agent else { return };
    match &case.brief.surface {
        CaseSurface::Profile(profile) => {
            let what = format!("case {} runs on profile {}, but agent {} acts in its reference", *case.id, **profile, **agent);
            found.error(&agent.at, what, "remove agent: from the step");
        }
        CaseSurface::Agent(_) | CaseSurface::Skills if workspace.agent(agent).is_none() => found.error(
            &agent.at,
            format!("the reference of case {} names agent {}, which does not exist", *case.id, **agent),
            suggest_name(agent, workspace.agents.iter().map(|agent| agent.name.as_str()), "name an agent of the workspace"),
        ),
        CaseSurface::Skills if case.brief.carry_out && !active.contains(agent.as_str()) => {
            let what = format!("in the reference of case {}, {} acts before a skill or a delegation starts it", *case.id, **agent);
            found.error(&agent.at, what, "activate a skill of this agent, or delegate to it");
        }
        CaseSurface::Agent(root) if workspace.agent(root).is_some() && !active.contains(agent.as_str()) => {
            let what = format!("in the reference of case {}, {} acts before a delegation to it", *case.id, **agent);
            found.error(&agent.at, what, format!("add a step {{ delegate: {} }} before it", **agent));
        }
        CaseSurface::Agent(_) | CaseSurface::Skills => {}
    }
}

fn check_step(workspace: &Workspace, case: &Case, step: &ReferenceStep, found: &mut FindingCollector) {
    let actor = step.agent.as_ref().or(case.brief.surface.agent());
    match &step.action {
        ReferenceAction::Call { tool, .. } => check_call(workspace, case, actor, tool, found),
        ReferenceAction::Delegate { to, .. } => check_delegation(workspace, case, actor, to, found),
        ReferenceAction::Activate { skill, .. } if workspace.skill(skill).is_none() => found.error(
            &skill.at,
            format!("the reference of case {} activates {}, which does not exist", *case.id, **skill),
            suggest_name(skill, workspace.skills.iter().map(|skill| skill.name.as_str()), "name a skill of the workspace"),
        ),
        ReferenceAction::Activate { .. } | ReferenceAction::Ask(_) | ReferenceAction::Say(_) | ReferenceAction::Report(_) => {}
    }
}

fn check_call(workspace: &Workspace, case: &Case, actor: Option<&Spanned<String>>, name: &Spanned<String>, found: &mut FindingCollector) {
    let called = match exact_tool(workspace, name) {
        Ok(tool) => tool,
        Err(no) => return found.error(&name.at, format!("the reference of case {}: {}", *case.id, no.what), no.remedy),
    };
    let (held, holder) = match (&case.brief.surface, actor) {
        (CaseSurface::Profile(_), _) if !surface_exists(workspace, &case.brief.surface) => return,
        (CaseSurface::Profile(profile), _) => (workspace.surface_tools(&case.brief.surface), format!("profile {}", **profile)),
        (CaseSurface::Agent(_) | CaseSurface::Skills, Some(agent)) if workspace.agent(agent).is_none() => return,
        (CaseSurface::Agent(_) | CaseSurface::Skills, Some(agent)) => (workspace.agent_tools(agent), agent.value.clone()),
        (CaseSurface::Agent(_) | CaseSurface::Skills, None) => return,
    };
    if !held.iter().any(|tool| tool.name.value == called.name.value) {
        let what = format!("the reference of case {} calls {}, which {holder} does not hold", *case.id, *called.name);
        found.error(&name.at, what, "use an agent that holds it, or add it there");
    }
}

fn check_delegation(
    workspace: &Workspace,
    case: &Case,
    actor: Option<&Spanned<String>>,
    to: &Spanned<String>,
    found: &mut FindingCollector,
) {
    if matches!(case.brief.surface, CaseSurface::Profile(_)) {
        let what = format!("the reference of case {} delegates to {}, but on a profile there are no agents", *case.id, **to);
        return found.error(&to.at, what, "remove the step or run the case on an agent");
    }
    if workspace.agent(to).is_none() {
        let remedy = suggest_name(to, workspace.agents.iter().map(|agent| agent.name.as_str()), "name an agent of the workspace");
        return found.error(&to.at, format!("the reference of case {} delegates to {}, which does not exist", *case.id, **to), remedy);
    }
    let Some(agent) = actor.and_then(|name| workspace.agent(name)) else { return };
    if !agent.delegates_to.iter().any(|permitted| **permitted == **to) {
        let what = format!("in the reference of case {}, {} delegates to {} without an edge", *case.id, *agent.name, **to);
        let permitted: Vec<_> = agent.delegates_to.iter().map(|to| to.as_str()).collect();
        let remedy = if permitted.is_empty() { "it has no edges".to_owned() } else { format!("it has edges to {}", permitted.join(", ")) };
        found.error(&to.at, what, remedy);
    }
}
