//! Every part of the workspace has the cases that `coverage.yaml` asks for.

use super::{Check, ExampleWorkspace, FindingCollector};
use crate::coverage::coverage;
use model::Workspace;

pub(super) struct CoverageMinimumsCheck;

impl Check for CoverageMinimumsCheck {
    fn id(&self) -> &'static str {
        "coverage_minimums"
    }

    fn manual(&self) -> &'static str {
        "Every agent, skill, network, language, write tool and delegation has at least the cases that coverage.yaml asks for. A gate on a part \
         with few cases cannot tell one failure from many. `bardo-eval list coverage` prints the counts. A workspace without the file has \
         no minimums."
    }

    fn check(&self, workspace: &Workspace, found: &mut FindingCollector) {
        let Some(minimums) = &workspace.coverage else { return };
        for row in coverage(workspace).into_iter().filter(|row| row.needed > 0) {
            found.record_examined();
            if row.is_short() {
                let what =
                    format!("{} {}: {}, at least {} needed", row.group.word(), row.item, model::count(row.cases, "case"), row.needed);
                found.error(&minimums.at, what, "write further cases, or lower the minimum");
            }
        }
    }

    fn accepts(&self) -> ExampleWorkspace {
        ExampleWorkspace::minimal().with("coverage.yaml", "cases_per_chain: 1\n")
    }

    fn rejects(&self) -> ExampleWorkspace {
        ExampleWorkspace::minimal().with("coverage.yaml", "cases_per_chain: 100\n")
    }
}
