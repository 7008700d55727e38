//! Every gate has the cases it needs. Spec 6.1.

use super::{Check, ExampleWorkspace, FindingCollector};
use crate::gates::cases_per_slice;
use crate::scorers::scorer_named;
use model::Workspace;

pub(super) struct GatesHaveCases;

impl Check for GatesHaveCases {
    fn id(&self) -> &'static str {
        "gates_have_cases"
    }

    fn manual(&self) -> &'static str {
        "For every gate and every slice of it the suites hold at least min_cases cases that its scorer is concerned with. \
         Fewer is a warning: the suites may still be growing, but a run of the tier will have no evidence there."
    }

    fn check(&self, workspace: &Workspace, found: &mut FindingCollector) {
        for gate in &workspace.gates {
            found.record_examined();
            // What is not measured at all is said by gates_measured.
            let Some(scorer) = scorer_named(&gate.scorer) else { continue };
            let short: Vec<String> = cases_per_slice(gate, workspace, scorer)
                .into_iter()
                .filter(|(_, cases)| *cases < gate.min_cases)
                .map(|(slice, cases)| format!("{slice} {cases}"))
                .collect();
            if let Some(first) = short.first() {
                let more = if short.len() > 1 { format!(" and {} more slices", short.len() - 1) } else { String::new() };
                let what = format!("gate {} needs {} cases, has: {first}{more}", gate.id.value, gate.min_cases);
                found.warning(&gate.at, what, "write more cases before relying on the tier");
            }
        }
    }

    fn rejects(&self) -> ExampleWorkspace {
        ExampleWorkspace::minimal().edit("gates.yaml", "min_cases: 2", "min_cases: 20")
    }
}
