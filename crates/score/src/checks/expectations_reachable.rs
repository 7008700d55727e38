//! Tools and agents that a case expects, forbids or names in rules exist and are reachable. Tier 1, suites.

use super::graph::missing_reviewer;
use super::words::{exact_tool, suggest_name, surface_exists};
use super::{Check, ExampleWorkspace, FindingCollector};
use model::rule::{ActionSelector, ArgTest, SelectorTarget};
use model::suite::{Case, CaseSurface, Persona, UserScript, ValueOrigin};
use model::{Location, ReviewRole, Skill, SkillHandler, Workspace};
use std::collections::BTreeSet;

pub(super) struct ExpectationsReachable;

impl Check for ExpectationsReachable {
    fn id(&self) -> &'static str {
        "expectations_reachable"
    }

    fn manual(&self) -> &'static str {
        "Every expected call is to a tool of the profile, or one held by the agent or by an agent it can delegate to, under its canonical \
         name; on the skill surface a call is expected only if the skill is carried out, of a tool that its agent reaches. Forbidden and \
         allowed tools exist, and so do the tools and agents that rules and carried \
         values name."
    }

    fn check(&self, workspace: &Workspace, found: &mut FindingCollector) {
        for case in workspace.cases() {
            found.record_examined();
            check_calls(workspace, case, found);
            for (verb, patterns) in [("forbids", &case.expect.forbid), ("allows", &case.expect.allow)] {
                for name in patterns.iter().filter_map(|pattern| pattern.tool.as_ref()) {
                    if let Err(no) = exact_tool(workspace, name) {
                        found.error(&name.at, format!("case {} {verb} a tool, but {}", *case.id, no.what), no.remedy);
                    }
                }
            }
            for rule in &case.expect.rules {
                for selector in rule.selectors() {
                    check_selector(workspace, case, selector, &rule.at, found);
                }
            }
            check_carry(workspace, case, found);
        }
    }

    fn rejects(&self) -> ExampleWorkspace {
        ExampleWorkspace::minimal().edit("profiles/trader.yaml", "swap_get_quote, ", "")
    }
}

fn check_calls(workspace: &Workspace, case: &Case, found: &mut FindingCollector) {
    let Some(calls) = &case.expect.calls else { return };
    let (there, surface) = match &case.brief.surface {
        CaseSurface::Profile(name) => {
            let tools = workspace.surface_tools(&case.brief.surface);
            (tools.iter().map(|tool| tool.name.as_str()).collect(), format!("profile {}", **name))
        }
        CaseSurface::Agent(name) => (tools_within_reach(workspace, name), format!("agent {} and those it delegates to", **name)),
        CaseSurface::Skills => match case.expect.skill.as_ref().and_then(|skill| workspace.skill(skill)).filter(|_| case.brief.carry_out) {
            Some(skill) => (tools_of_skill(workspace, skill), format!("skill {}", *skill.name)),
            None => (BTreeSet::new(), "the skill surface".to_owned()),
        },
    };
    for call in calls.expected_calls() {
        match exact_tool(workspace, &call.tool) {
            Err(no) => found.error(&call.tool.at, format!("case {} expects a call, but {}", *case.id, no.what), no.remedy),
            // A surface that does not exist is reported once, by briefs_resolve.
            Ok(tool) if surface_exists(workspace, &case.brief.surface) && !there.contains(tool.name.as_str()) => {
                let what = format!("case {} expects {}, which {surface} cannot call", *case.id, *tool.name);
                found.error(&call.tool.at, what, "add the tool there, choose another surface or expect another tool");
            }
            Ok(_) => {}
        }
    }
}

fn tools_of_skill<'w>(workspace: &'w Workspace, skill: &'w Skill) -> BTreeSet<&'w str> {
    match &skill.handler {
        SkillHandler::Agent(agent) => tools_within_reach(workspace, agent),
        SkillHandler::Tool(tool) => workspace.tool(tool).map(|tool| tool.name.as_str()).into_iter().collect(),
    }
}

fn tools_within_reach<'w>(workspace: &'w Workspace, from: &'w str) -> BTreeSet<&'w str> {
    let mut reached = BTreeSet::from([from]);
    let mut open = vec![from];
    while let Some(agent) = open.pop().and_then(|name| workspace.agent(name)) {
        open.extend(agent.delegates_to.iter().map(|to| to.as_str()).filter(|to| workspace.agent(to).is_some() && reached.insert(to)));
    }
    reached.into_iter().flat_map(|agent| workspace.agent_tools(agent)).map(|tool| tool.name.as_str()).collect()
}

fn check_selector(workspace: &Workspace, case: &Case, selector: &ActionSelector, at: &Location, found: &mut FindingCollector) {
    match &selector.what {
        SelectorTarget::Tool(name) => match exact_tool(workspace, name) {
            Err(no) => found.error(at, format!("a rule of case {}: {}", *case.id, no.what), no.remedy),
            Ok(tool) => {
                for param in selector.tests.iter().filter_map(ArgTest::param).filter(|param| !tool.params.contains_key(*param)) {
                    let what = format!("a rule of case {} tests {param} of {name}, which does not take it", *case.id);
                    found.error(at, what, suggest_name(param, tool.params.keys().map(String::as_str), "test a parameter of the tool"));
                }
            }
        },
        SelectorTarget::DelegateTo(name) => check_agent(workspace, case, name, at, found),
        SelectorTarget::Guard(_) => check_reviewer(workspace, case, ReviewRole::Guardian, at, found),
        SelectorTarget::Assess(_) => check_reviewer(workspace, case, ReviewRole::Assessor, at, found),
        // Each alternative is checked on its own.
        SelectorTarget::Class(_) | SelectorTarget::Acts(_) | SelectorTarget::AnyOf(_) => {}
    }
}

fn check_carry(workspace: &Workspace, case: &Case, found: &mut FindingCollector) {
    for carry in &case.expect.carry {
        if let Some((what, remedy)) = unreachable_carry(&case.brief.user_script, &carry.from) {
            found.error(&case.at, format!("case {} carries {} from {what}", *case.id, carry.slot), remedy);
        }
        if let Some(until) = carry.until.as_deref().filter(|until| until.parse::<u64>().is_err()) {
            check_agent(workspace, case, until, &case.at, found);
        }
    }
}

/// Returns the problem and the remedy if the user can never state the carried value.
fn unreachable_carry(talk: &UserScript, since: &ValueOrigin) -> Option<(String, String)> {
    let corrects =
        |persona: &Persona, name: &str| persona.corrections.iter().any(|one| one.fact.as_ref().is_some_and(|fact| **fact == name));
    match (talk, since) {
        (UserScript::Turns(turns), ValueOrigin::Turn(n)) => (*n == 0 || *n > turns.len() as u64)
            .then(|| (format!("turn {n}, which does not exist"), format!("count turns from 1 to {}", turns.len()))),
        (UserScript::Turns(_), ValueOrigin::Fact(name) | ValueOrigin::Correction(name)) => {
            Some((format!("the fact {name}, but only a persona has facts"), "write from_turn".into()))
        }
        (UserScript::Persona(_), ValueOrigin::Turn(n)) => (*n != 1)
            .then(|| (format!("turn {n}, but the turns of a persona depend on the subject"), "write from_fact or from_correction".into())),
        (UserScript::Persona(persona), ValueOrigin::Fact(name)) => (!persona.facts.contains_key(name))
            .then(|| (format!("the fact {name}, which the persona does not have"), "name one of facts".into())),
        (UserScript::Persona(persona), ValueOrigin::Correction(name)) => (!corrects(persona, name))
            .then(|| (format!("a correction of {name}, which the persona does not make"), "name the fact of one of corrections".into())),
    }
}

fn check_reviewer(workspace: &Workspace, case: &Case, role: ReviewRole, at: &Location, found: &mut FindingCollector) {
    if let Some((what, remedy)) = missing_reviewer(workspace, role) {
        found.error(at, format!("case {} names {what}", *case.id), remedy);
    }
}

fn check_agent(workspace: &Workspace, case: &Case, name: &str, at: &Location, found: &mut FindingCollector) {
    if workspace.agent(name).is_none() {
        let remedy =
            suggest_name(name, workspace.agents.iter().map(|agent| agent.name.as_str()), format!("write agents/{name}.md or remove it"));
        found.error(at, format!("case {} names agent {name}, which does not exist", *case.id), remedy);
    }
}
