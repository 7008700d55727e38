//! Every agent that can write can ask the guardian. Spec 2.2, safety pipeline.

use super::graph::{GUARDIAN, write_tools};
use super::{Check, Example, Findings};
use model::Workspace;

pub(super) struct GuardianEdge;

impl Check for GuardianEdge {
    fn id(&self) -> &'static str {
        "guardian_edge"
    }

    fn manual(&self) -> &'static str {
        "Every agent that holds a write tool delegates to safety-guardian directly; a way through a third agent does not count, \
         because approval belongs to the one who writes. Where anybody writes, the agent safety-guardian must exist."
    }

    fn check(&self, workspace: &Workspace, found: &mut Findings) {
        let mut missing = workspace.agent(GUARDIAN).is_none();
        for agent in workspace.agents.iter().filter(|agent| *agent.name != GUARDIAN) {
            found.look();
            let Some((name, tool)) = write_tools(workspace, agent).first().copied() else { continue };
            if missing {
                let what = format!("{} can write ({}), but there is no agent {GUARDIAN}", *agent.name, *tool.name);
                found.error(&name.at, what, format!("write agents/{GUARDIAN}.md"));
                missing = false;
            }
            if !agent.delegates_to.iter().any(|to| **to == GUARDIAN) {
                let what = format!("{} can write ({}) but cannot ask {GUARDIAN}", *agent.name, *tool.name);
                found.error(&name.at, what, format!("add {GUARDIAN} to delegates_to or remove the write tools"));
            }
        }
    }

    fn rejects(&self) -> Example {
        Example::minimal().edit("agents/desk.md", "writes: false", "writes: true").edit(
            "agents/desk.md",
            "tools: [wallet_get_balance]",
            "tools: [wallet_get_balance, token_transfer]",
        )
    }
}
