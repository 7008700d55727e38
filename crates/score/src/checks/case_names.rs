//! Names in one case that nothing in the workspace has. A run would blame the subject for them.

use super::finding::{CheckFinding, FindingCollector};
use super::words::suggest_name;
use model::suite::{AssertedText, Case, CaseSurface};
use model::{Spanned, Workspace};

/// Returns the unknown tools, profile, agent and skill of a case. Aliases of tools are known.
pub fn unknown_case_names(workspace: &Workspace, case: &Case) -> Vec<CheckFinding> {
    let mut found = FindingCollector::of("case_names", 1);
    let mut unknown = |kind: &str, name: &Spanned<String>, known: Vec<&str>| {
        let remedy = suggest_name(name, known, format!("add the {kind} or correct the name"));
        found.error(&name.at, format!("case {} names the {kind} {}, which does not exist", *case.id, **name), remedy);
    };
    match &case.brief.surface {
        CaseSurface::Profile(name) if workspace.profile(name).is_none() => {
            unknown("profile", name, workspace.profiles.iter().map(|profile| profile.name.as_str()).collect());
        }
        CaseSurface::Agent(name) if workspace.agent(name).is_none() => {
            unknown("agent", name, workspace.agents.iter().map(|agent| agent.name.as_str()).collect());
        }
        CaseSurface::Profile(_) | CaseSurface::Agent(_) | CaseSurface::Skills => {}
    }
    if let Some(name) = case.expect.skill.as_ref().filter(|name| workspace.skill(name).is_none()) {
        unknown("skill", name, workspace.skills.iter().map(|skill| skill.name.as_str()).collect());
    }
    for name in tools_of_case(case).into_iter().filter(|name| workspace.tool(name).is_none()) {
        unknown("tool", name, workspace.tools.iter().map(|tool| tool.name.as_str()).collect());
    }
    found.finish().findings
}

/// Returns the tools that the expectations, fixtures and reference of a case name.
fn tools_of_case(case: &Case) -> Vec<&Spanned<String>> {
    let expect = &case.expect;
    let expected = expect.calls.iter().flat_map(|calls| calls.expected_calls()).map(|call| &call.tool);
    let patterns = expect.forbid.iter().chain(&expect.allow).filter_map(|pattern| pattern.tool.as_ref());
    let asserted = expect.assertions.iter().filter_map(|assertion| match &assertion.on {
        AssertedText::Returned(name) | AssertedText::Called(name) => Some(name),
        AssertedText::Said => None,
    });
    let fixtures = case.brief.fixtures.iter().map(|fixture| &fixture.tool);
    let reference = case.reference.iter().filter_map(|step| step.action.called_name());
    expected.chain(patterns).chain(asserted).chain(fixtures).chain(reference).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::ExampleWorkspace;

    fn findings(file: &'static str, from: &str, to: &str) -> Vec<String> {
        let workspace = ExampleWorkspace::minimal().edit(file, from, to).load().expect("a workspace");
        workspace
            .cases()
            .flat_map(|case| unknown_case_names(&workspace, case))
            .map(|one| format!("{} | {}", one.what, one.remedy))
            .collect()
    }

    #[test]
    fn misspelt_names_are_found_and_the_near_name_is_told() {
        let tools = "suites/tool_selection/trader.yaml";
        assert_eq!(findings(tools, "suite:", "suite:"), Vec::<String>::new());
        let found = findings(tools, "{ tool: wallet_get_balance, args", "{ tool: wallet_get_balanse, args");
        assert!(
            found.len() == 1 && found[0].contains("wallet_get_balanse") && found[0].ends_with("did you mean \"wallet_get_balance\"?"),
            "{found:?}"
        );
        assert!(findings(tools, "profile: trader", "profile: tradr")[0].contains("the profile tradr"));
        assert!(findings("suites/skills/swap.yaml", "skill: swap", "skill: swop")[0].contains("the skill swop"));
    }
}
