//! Delegation never comes back to where it started. Spec 2.2, DAG adherence.

use super::graph::DelegationGraph;
use super::{Check, ExampleWorkspace, FindingCollector};
use model::Workspace;

pub(super) struct GraphAcyclic;

impl Check for GraphAcyclic {
    fn id(&self) -> &'static str {
        "graph_acyclic"
    }

    fn manual(&self) -> &'static str {
        "The delegation graph has no cycle: no agent can be asked, over however many hops, to do what it just handed on. \
         Each finding names a whole cycle and stands at the edge that closes it."
    }

    fn check(&self, workspace: &Workspace, found: &mut FindingCollector) {
        workspace.agents.iter().for_each(|_| found.record_examined());
        for cycle in DelegationGraph::of(workspace).cycles() {
            if let Some(at) = cycle.hops.last() {
                found.error(at, format!("delegation runs in a circle: {cycle}"), "remove this edge or another of the circle");
            }
        }
    }

    fn rejects(&self) -> ExampleWorkspace {
        ExampleWorkspace::minimal().edit("agents/trader.md", "delegates_to: [safety-guardian]", "delegates_to: [safety-guardian, desk]")
    }
}
