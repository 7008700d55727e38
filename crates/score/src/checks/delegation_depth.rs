//! No delegation path exceeds the policy's depth limit. Spec 2.4, delegation depth.

use super::graph::DelegationGraph;
use super::{Check, ExampleWorkspace, FindingCollector};
use model::Workspace;

pub(super) struct DelegationDepthCheck;

impl Check for DelegationDepthCheck {
    fn id(&self) -> &'static str {
        "delegation_depth"
    }

    fn manual(&self) -> &'static str {
        "From every agent the longest path through the delegation graph has at most as many hops as delegation_depth in policy.yaml. Each \
         hop can lose part of the user's request. The finding names the path and points to its first hop beyond the limit."
    }

    fn check(&self, workspace: &Workspace, found: &mut FindingCollector) {
        let Some(limit) = workspace.policy.as_ref().map(|policy| policy.delegation_depth) else { return };
        for path in DelegationGraph::of(workspace).longest_paths() {
            found.record_examined();
            let hops = path.hops.len();
            let beyond = usize::try_from(limit).ok().and_then(|limit| path.hops.get(limit));
            if let Some(at) = beyond {
                let remedy =
                    format!("the limit is {limit}: remove an edge, or let an earlier agent of the path delegate to a later one directly");
                found.error(at, format!("{path} has {hops} hops"), remedy);
            }
        }
    }

    fn rejects(&self) -> ExampleWorkspace {
        ExampleWorkspace::minimal().edit("policy.yaml", "delegation_depth: 3", "delegation_depth: 1")
    }
}
