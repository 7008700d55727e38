//! An agent has `writes: true` exactly if it has a write tool. Spec 2.2, safety pipeline.

use super::graph::write_tools;
use super::{Check, ExampleWorkspace, FindingCollector};
use model::Workspace;

pub(super) struct WritesDeclared;

impl Check for WritesDeclared {
    fn id(&self) -> &'static str {
        "writes_declared"
    }

    fn manual(&self) -> &'static str {
        "An agent's writes is true exactly when one of its tools has capability write or privileged. The declaration shows at a glance \
         what an agent may do and reveals a write tool added by accident."
    }

    fn check(&self, workspace: &Workspace, found: &mut FindingCollector) {
        for agent in &workspace.agents {
            found.record_examined();
            match (*agent.writes, write_tools(workspace, agent).first()) {
                (true, Some(_)) | (false, None) => {}
                (false, Some((_, tool))) => {
                    let what = format!("{} has writes: false but holds {}", *agent.name, *tool.name);
                    found.error(&agent.writes.at, what, "set writes: true or remove the tool");
                }
                (true, None) => {
                    let what = format!("{} has writes: true but none of its tools writes", *agent.name);
                    found.error(&agent.writes.at, what, "set writes: false or add a write tool");
                }
            }
        }
    }

    fn rejects(&self) -> ExampleWorkspace {
        ExampleWorkspace::minimal().edit("agents/desk.md", "writes: false", "writes: true")
    }
}
