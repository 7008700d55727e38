//! Every delegation target exists. Spec 2.2, DAG adherence.

use super::{Check, ExampleWorkspace, FindingCollector};
use model::{Workspace, did_you_mean};

pub(super) struct DelegatesExist;

impl Check for DelegatesExist {
    fn id(&self) -> &'static str {
        "delegates_exist"
    }

    fn manual(&self) -> &'static str {
        "Every name in an agent's delegates_to is an agent of the workspace, named once, and never the agent itself. A delegation to an \
         unknown agent would be lost at run time."
    }

    fn check(&self, workspace: &Workspace, found: &mut FindingCollector) {
        for agent in &workspace.agents {
            for (n, to) in agent.delegates_to.iter().enumerate() {
                found.record_examined();
                if workspace.agent(to).is_none() {
                    let guess = did_you_mean(to, workspace.agents.iter().map(|agent| agent.name.as_str()));
                    let remedy = if guess.is_empty() { format!("write agents/{}.md or remove it", **to) } else { guess };
                    found.error(&to.at, format!("{} delegates to {}, which does not exist", *agent.name, **to), remedy);
                } else if **to == *agent.name {
                    found.error(&to.at, format!("{} delegates to itself", *agent.name), "remove it");
                } else if agent.delegates_to[..n].iter().any(|earlier| **earlier == **to) {
                    found.error(&to.at, format!("{} names {} twice", *agent.name, **to), "keep one");
                }
            }
        }
    }

    fn rejects(&self) -> ExampleWorkspace {
        ExampleWorkspace::minimal().edit("agents/desk.md", "delegates_to: [trader]", "delegates_to: [tradr]")
    }
}
