//! Case ids are unique in the workspace. Tier 1, suites.

use super::{Check, ExampleWorkspace, FindingCollector};
use model::Workspace;
use std::collections::HashMap;

pub(super) struct CaseIdsUnique;

impl Check for CaseIdsUnique {
    fn id(&self) -> &'static str {
        "case_ids_unique"
    }

    fn manual(&self) -> &'static str {
        "No two cases share an id, not even in different suites: results, golden runs and selections on the command line name cases by id \
         only, so a duplicate would silently be taken for the other."
    }

    fn check(&self, workspace: &Workspace, found: &mut FindingCollector) {
        let mut first = HashMap::new();
        for case in workspace.cases() {
            found.record_examined();
            if let Some(earlier) = first.get(case.id.as_str()) {
                found.error(&case.id.at, format!("duplicate case id {}", *case.id), format!("the first is at {earlier}; rename one"));
            } else {
                first.insert(case.id.as_str(), &case.id.at);
            }
        }
    }

    fn rejects(&self) -> ExampleWorkspace {
        ExampleWorkspace::minimal().edit("suites/behavior/trader.yaml", "id: sell_usdc_for_ether", "id: how_much_usdc")
    }
}
