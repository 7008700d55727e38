//! Every agent with a write tool can delegate to the guardian. Spec 2.2, safety pipeline.

use super::graph::write_tools;
use super::{Check, ExampleWorkspace, FindingCollector};
use model::Workspace;

pub(super) struct GuardianEdge;

impl Check for GuardianEdge {
    fn id(&self) -> &'static str {
        "guardian_edge"
    }

    fn manual(&self) -> &'static str {
        "Every agent that holds a write tool delegates directly to the guardian, the agent with serves: guardian; an indirect path does \
         not count, because the writing agent itself needs the approval. A workspace with write tools has a guardian."
    }

    fn check(&self, workspace: &Workspace, found: &mut FindingCollector) {
        let guardian = workspace.guardian().map(|agent| agent.name.as_str());
        let mut reported = false;
        for agent in workspace.agents.iter().filter(|agent| Some(agent.name.as_str()) != guardian) {
            found.record_examined();
            let Some((name, tool)) = write_tools(workspace, agent).first().copied() else { continue };
            match guardian {
                None if reported => {}
                None => {
                    let what = format!("{} can write ({}), but no agent serves as guardian", *agent.name, *tool.name);
                    found.error(&name.at, what, "add serves: guardian to the agent that approves writes");
                    reported = true;
                }
                Some(guardian) if agent.delegates_to.iter().any(|to| **to == guardian) => {}
                Some(guardian) => {
                    let what = format!("{} can write ({}) but cannot ask {guardian}", *agent.name, *tool.name);
                    found.error(&name.at, what, format!("add {guardian} to delegates_to or remove the write tools"));
                }
            }
        }
    }

    fn rejects(&self) -> ExampleWorkspace {
        ExampleWorkspace::minimal().edit("agents/desk.md", "writes: false", "writes: true").edit(
            "agents/desk.md",
            "tools: [wallet_get_balance]",
            "tools: [wallet_get_balance, token_transfer]",
        )
    }
}
