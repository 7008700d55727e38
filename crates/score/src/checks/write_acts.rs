//! Write tools change state, read tools do not. Scorers judge a write by its effect, so it must have one.

use super::{Check, ExampleWorkspace, FindingCollector};
use model::Workspace;

pub(super) struct WriteActs;

impl Check for WriteActs {
    fn id(&self) -> &'static str {
        "write_acts"
    }

    fn manual(&self) -> &'static str {
        "A tool with capability write or privileged acts on something, and a tool with capability read only reads, quotes or simulates. A \
         write without an effect would pass every safety measure unnoticed; a read that writes would bypass them."
    }

    fn check(&self, workspace: &Workspace, found: &mut FindingCollector) {
        for tool in &workspace.tools {
            found.record_examined();
            let (name, acts) = (&*tool.name, tool.acts.word());
            match (tool.writes(), tool.acts.class().changes_state()) {
                (true, true) | (false, false) => {}
                (true, false) => {
                    let remedy = "name what it does (send, swap, enter, configure …), or write capability: read";
                    found.error(&tool.acts.at, format!("{name} is a write but its acts is {acts}, which changes nothing"), remedy);
                }
                (false, true) => {
                    let remedy = "write capability: write, or acts: read, quote or simulate";
                    found.error(&tool.acts.at, format!("{name} is a read but its acts is {acts}, which changes something"), remedy);
                }
            }
        }
    }

    fn rejects(&self) -> ExampleWorkspace {
        ExampleWorkspace::minimal().edit("tools/wallet.yaml", "acts: send", "acts: read")
    }
}
