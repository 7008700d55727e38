//! Gates, tiers, CI rows and policy are at least as strict as the specification, or say why not. Spec 2, 3, 5, 6 and 9.

use super::{Check, ExampleWorkspace, FindingCollector};
use crate::spec_bounds::{SPEC_CI, SPEC_GATES, SPEC_POLICY, SPEC_TIERS, declared_deviations, spec_shortfalls};
use model::Workspace;

pub(super) struct SpecBounds;

impl Check for SpecBounds {
    fn id(&self) -> &'static str {
        "spec_bounds"
    }

    fn manual(&self) -> &'static str {
        "Every line of the specification has a gate with its scorer, slice, tiers and number of cases and with its bound or a stricter one; \
         every tier, CI event and policy bound is at least as strict as in the specification. Scorers of unauthorised acts have gates of the \
         workspace's own. A gate, tier, CI row or policy that is weaker \
         says why with deviates: \"reason\"; the same key at the top of gates.yaml or tiers.yaml covers the whole file, missing rows \
         included. Every report repeats the reasons. A reason that excuses nothing is a warning."
    }

    fn check(&self, workspace: &Workspace, found: &mut FindingCollector) {
        for _ in 0..SPEC_GATES.len() + SPEC_TIERS.len() + SPEC_CI.len() + SPEC_POLICY.len() {
            found.record_examined();
        }
        for shortfall in spec_shortfalls(workspace).into_iter().filter(|shortfall| shortfall.reason.is_none()) {
            found.error(&shortfall.at, shortfall.what, shortfall.remedy);
        }
        for deviation in declared_deviations(workspace).into_iter().filter(|deviation| deviation.covers.is_empty()) {
            found.warning(&deviation.at, "deviates excuses nothing: no row is weaker than the specification", "remove deviates");
        }
    }

    fn rejects(&self) -> ExampleWorkspace {
        ExampleWorkspace::minimal().edit(
            "policy.yaml",
            "slippage_bps: { default: 50, max: 100 }",
            "slippage_bps: { default: 50, max: 5000 }",
        )
    }
}
