//! Review roles of a workspace: reports duplicates, and supports older files in which the name of an agent implied its role.

use crate::agent::Agent;
use crate::location::Spanned;
use crate::problem::Problem;
use crate::review::ReviewRole;

/// Assigns each role without an agent to the agent with its legacy name. Returns a warning for each assignment.
pub(super) fn assign_legacy_roles(agents: &mut [Agent]) -> Vec<Problem> {
    let mut warnings = vec![];
    for (word, role) in ReviewRole::ALL {
        if agents.iter().any(|agent| agent.serves_as(*role)) {
            continue;
        }
        if let Some(agent) = agents.iter_mut().find(|agent| *agent.name == legacy_name(*role) && agent.serves.is_none()) {
            let what = format!("{} serves as {word} because of its name alone", *agent.name);
            warnings.push(Problem { at: agent.name.at.clone(), what, remedy: format!("add serves: {word}") });
            agent.serves = Some(Spanned::new(*role, agent.name.at.clone()));
        }
    }
    warnings
}

/// Returns a problem for each further agent with the same role.
pub(super) fn duplicate_role_problems(agents: &[Agent]) -> Vec<Problem> {
    let mut problems = vec![];
    for (word, role) in ReviewRole::ALL {
        let mut serving = agents.iter().filter(|agent| agent.serves_as(*role));
        let Some(first) = serving.next() else { continue };
        for agent in serving {
            let at = agent.serves.as_ref().map_or_else(|| agent.at.clone(), |serves| serves.at.clone());
            let what = format!("{} serves as {word}, and so does {}", *agent.name, *first.name);
            problems.push(Problem { at, what, remedy: format!("keep serves: {word} in one agent") });
        }
    }
    problems
}

/// Returns the agent name that implied a role before files could name it.
fn legacy_name(role: ReviewRole) -> &'static str {
    match role {
        ReviewRole::Guardian => "safety-guardian",
        ReviewRole::Assessor => "risk-assessor",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::read_agent;
    use crate::problem::ProblemReport;
    use crate::yaml::{YamlLimits, load};

    fn agent(name: &str, more: &str) -> Agent {
        let report = ProblemReport::new("agents/a.md");
        let text = format!(
            "name: {name}\nrole: Reviews.\ncategory: infrastructure\ntier: deep\nwrites: false\nterminal: true\ntools: []\n\
             delegates_to: []\nneeds: []\noutput: verdict\nworkflow: []\ninvariants: []\n{more}"
        );
        let node = load(&text, YamlLimits::default(), &report).unwrap();
        read_agent(&node, "Review.", &report).unwrap_or_else(|| panic!("{:?}", report.into_problems()))
    }

    fn messages(problems: &[Problem]) -> Vec<String> {
        problems.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn legacy_guardian_name_sets_role_and_warns() {
        let mut agents = [agent("safety-guardian", ""), agent("risk-assessor", "")];
        let warnings = messages(&assign_legacy_roles(&mut agents));
        let guardian = "agents/a.md:1  safety-guardian serves as guardian because of its name alone; add serves: guardian";
        assert_eq!(warnings[0], guardian);
        assert_eq!(warnings.len(), 2);
        assert!(agents[0].serves_as(ReviewRole::Guardian) && agents[1].serves_as(ReviewRole::Assessor));
    }

    #[test]
    fn named_role_outranks_the_legacy_name() {
        let mut agents = [agent("safety-guardian", ""), agent("gatekeeper", "serves: guardian\n")];
        assert!(assign_legacy_roles(&mut agents).is_empty());
        assert!(!agents[0].serves_as(ReviewRole::Guardian) && agents[1].serves_as(ReviewRole::Guardian));
    }

    #[test]
    fn two_guardians_are_a_problem() {
        let agents = [agent("one", "serves: guardian\n"), agent("two", "serves: guardian\n"), agent("three", "serves: assessor\n")];
        assert_eq!(
            messages(&duplicate_role_problems(&agents)),
            ["agents/a.md:13  two serves as guardian, and so does one; keep serves: guardian in one agent"]
        );
    }
}
