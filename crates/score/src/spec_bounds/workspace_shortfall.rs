//! All rows of a workspace that are weaker than the specification.

use super::gate_shortfall::gate_shortfalls;
use super::shortfall::{SpecShortfall, reason};
use super::table::{SPEC_CI, SPEC_POLICY, SPEC_TIERS};
use super::tier_shortfall::{ci_shortfalls, tier_shortfalls};
use model::Workspace;

/// Returns every row that is weaker than the specification, with the reason if the workspace gives one. The specification is about
/// workspaces with a policy; others have no such row.
pub fn spec_shortfalls(workspace: &Workspace) -> Vec<SpecShortfall> {
    let Some(policy) = &workspace.policy else { return vec![] };
    let mut found = gate_shortfalls(workspace);
    for spec in SPEC_TIERS {
        tier_shortfalls(workspace, spec, &mut found);
    }
    for spec in SPEC_CI {
        ci_shortfalls(workspace, spec, &mut found);
    }
    for bound in SPEC_POLICY {
        let value = (bound.read)(policy);
        if value > bound.at_most {
            found.push(SpecShortfall {
                at: policy.at.clone(),
                what: format!("{} is {value}, but \"{}\" allows at most {}", bound.key, bound.line, bound.at_most),
                remedy: format!("write {} or less, or add deviates: \"reason\" to policy.yaml", bound.at_most),
                is_lowered: true,
                reason: reason(policy.deviates.as_ref(), None),
            });
        }
    }
    found
}
