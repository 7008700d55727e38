//! The guardian can do nothing but look and answer. Spec 2.2, safety pipeline.

use super::graph::{GUARDIAN, write_tools};
use super::{Check, Example, Findings};
use model::Workspace;

pub(super) struct GuardianReadsOnly;

impl Check for GuardianReadsOnly {
    fn id(&self) -> &'static str {
        "guardian_reads_only"
    }

    fn manual(&self) -> &'static str {
        "The agent safety-guardian holds no write tool and delegates to nobody. \
         Whoever approves must be unable to act, and must not pass the decision on to somebody who can be talked into it."
    }

    fn check(&self, workspace: &Workspace, found: &mut Findings) {
        for guardian in workspace.agents.iter().filter(|agent| *agent.name == GUARDIAN) {
            found.look();
            for (name, tool) in write_tools(workspace, guardian) {
                found.error(&name.at, format!("{GUARDIAN} holds the write tool {}", *tool.name), "remove it");
            }
            for to in &guardian.delegates_to {
                found.error(&to.at, format!("{GUARDIAN} delegates to {}", **to), "remove it: it decides alone");
            }
        }
    }

    fn rejects(&self) -> Example {
        Example::minimal().edit("agents/safety-guardian.md", "writes: false", "writes: true").edit(
            "agents/safety-guardian.md",
            "tx_simulate]",
            "tx_simulate, swap_execute]",
        )
    }
}
