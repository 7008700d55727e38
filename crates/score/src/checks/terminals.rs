//! An agent is terminal exactly if it has no delegates. Spec 2.2, DAG adherence.

use super::{Check, ExampleWorkspace, FindingCollector};
use model::Workspace;

pub(super) struct TerminalsCheck;

impl Check for TerminalsCheck {
    fn id(&self) -> &'static str {
        "terminals"
    }

    fn manual(&self) -> &'static str {
        "An agent with terminal: true has an empty delegates_to, and an agent with an empty delegates_to has terminal: true. The \
         redundancy reveals an edge that was added or lost by accident."
    }

    fn check(&self, workspace: &Workspace, found: &mut FindingCollector) {
        for agent in &workspace.agents {
            found.record_examined();
            match (agent.terminal, agent.delegates_to.first()) {
                (true, None) | (false, Some(_)) => {}
                (true, Some(to)) => {
                    let what = format!("{} is terminal but delegates to {}", *agent.name, **to);
                    found.error(&to.at, what, "write terminal: false or empty delegates_to");
                }
                (false, None) => {
                    let what = format!("{} has no delegates but is not terminal", *agent.name);
                    found.error(&agent.at, what, "write terminal: true or add agents to delegates_to");
                }
            }
        }
    }

    fn rejects(&self) -> ExampleWorkspace {
        ExampleWorkspace::minimal().edit("agents/desk.md", "terminal: false", "terminal: true")
    }
}
