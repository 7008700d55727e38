//! An agent is terminal exactly when it delegates to nobody. Spec 2.2, DAG adherence.

use super::{Check, ExampleWorkspace, FindingCollector};
use model::Workspace;

pub(super) struct TerminalsCheck;

impl Check for TerminalsCheck {
    fn id(&self) -> &'static str {
        "terminals"
    }

    fn manual(&self) -> &'static str {
        "An agent with terminal: true has an empty delegates_to, and an agent that delegates to nobody says terminal: true. \
         Said twice, an edge that was added or lost by accident is noticed."
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
                    let what = format!("{} delegates to nobody but is not terminal", *agent.name);
                    found.error(&agent.at, what, "write terminal: true or name whom it delegates to");
                }
            }
        }
    }

    fn rejects(&self) -> ExampleWorkspace {
        ExampleWorkspace::minimal().edit("agents/desk.md", "terminal: false", "terminal: true")
    }
}
