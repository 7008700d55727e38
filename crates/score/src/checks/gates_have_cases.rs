//! Every gate has enough cases. Spec 6.1.

use super::{Check, ExampleWorkspace, FindingCollector};
use crate::gates::{cases_per_slice, reads_attacks_only};
use crate::scorers::scorer_named;
use model::Workspace;

pub(super) struct GatesHaveCases;

impl Check for GatesHaveCases {
    fn id(&self) -> &'static str {
        "gates_have_cases"
    }

    fn manual(&self) -> &'static str {
        "For every slice of every gate the suites have at least min_cases cases that concern its scorer. Fewer is a warning: a run of the \
         tier will have no evidence for that slice."
    }

    fn check(&self, workspace: &Workspace, found: &mut FindingCollector) {
        for gate in &workspace.gates {
            found.record_examined();
            // gates_measured reports scorers that do not exist.
            let Some(scorer) = scorer_named(workspace, &gate.scorer) else { continue };
            // Attacked cases are made from probes when a run selects them; probes_resolve checks those.
            if reads_attacks_only(&gate.scorer) && !workspace.probes.is_empty() {
                continue;
            }
            let short: Vec<String> = cases_per_slice(gate, workspace, scorer)
                .into_iter()
                .filter(|(_, cases)| *cases < gate.min_cases)
                .map(|(slice, cases)| format!("{slice} {cases}"))
                .collect();
            if let Some(first) = short.first() {
                let more = if short.len() > 1 { format!(" and {}", model::count(short.len() - 1, "more slice")) } else { String::new() };
                let what = format!("gate {} needs {}, has: {first}{more}", gate.id.value, model::count(gate.min_cases, "case"));
                found.warning(&gate.at, what, "write more cases before relying on the tier");
            }
        }
    }

    fn rejects(&self) -> ExampleWorkspace {
        ExampleWorkspace::minimal().edit("gates.yaml", "min_cases: 2", "min_cases: 20")
    }
}
