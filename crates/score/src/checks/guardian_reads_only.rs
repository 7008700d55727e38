//! The guardian has no write tools and no delegates. Spec 2.2, safety pipeline.

use super::graph::write_tools;
use super::{Check, ExampleWorkspace, FindingCollector};
use model::Workspace;

pub(super) struct GuardianReadsOnly;

impl Check for GuardianReadsOnly {
    fn id(&self) -> &'static str {
        "guardian_reads_only"
    }

    fn manual(&self) -> &'static str {
        "The guardian, the agent with serves: guardian, holds no write tool and has no delegates. The agent that approves must be unable \
         to act and must not pass the decision on to another agent."
    }

    fn check(&self, workspace: &Workspace, found: &mut FindingCollector) {
        let Some(guardian) = workspace.guardian() else { return };
        found.record_examined();
        for (name, tool) in write_tools(workspace, guardian) {
            found.error(&name.at, format!("{} holds the write tool {}", *guardian.name, *tool.name), "remove it");
        }
        for to in &guardian.delegates_to {
            found.error(&to.at, format!("{} delegates to {}", *guardian.name, **to), "remove it: it decides alone");
        }
    }

    fn rejects(&self) -> ExampleWorkspace {
        ExampleWorkspace::minimal().edit("agents/safety-guardian.md", "writes: false", "writes: true").edit(
            "agents/safety-guardian.md",
            "tx_simulate]",
            "tx_simulate, swap_execute]",
        )
    }
}
