//! No file uses a key or value from an older version. Tier 1, catalogue.

use super::{Check, ExampleWorkspace, FindingCollector};
use model::Workspace;

pub(super) struct KeysCurrent;

impl Check for KeysCurrent {
    fn id(&self) -> &'static str {
        "keys_current"
    }

    fn manual(&self) -> &'static str {
        "Warns about keys and values of tool and agent files that an older version of bardo-eval used. They are still accepted, and every \
         command reports them on stderr; the remedy names the replacement."
    }

    fn check(&self, workspace: &Workspace, found: &mut FindingCollector) {
        for _ in 0..workspace.tools.len() + workspace.agents.len() {
            found.record_examined();
        }
        for warning in &workspace.warnings {
            found.warning(&warning.at, warning.what.as_str(), warning.remedy.as_str());
        }
    }

    fn rejects(&self) -> ExampleWorkspace {
        ExampleWorkspace::minimal().edit("tools/wallet.yaml", "acts: send", "acts: transfer")
    }
}
