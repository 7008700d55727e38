//! The delegation graph has no cycle. Spec 2.2, DAG adherence.

use super::graph::DelegationGraph;
use super::{Check, ExampleWorkspace, FindingCollector};
use model::Workspace;

pub(super) struct GraphAcyclic;

impl Check for GraphAcyclic {
    fn id(&self) -> &'static str {
        "graph_acyclic"
    }

    fn manual(&self) -> &'static str {
        "The delegation graph has no cycle: a delegation never returns to an agent that passed it on. Each finding names a whole cycle and \
         points to the edge that closes it."
    }

    fn check(&self, workspace: &Workspace, found: &mut FindingCollector) {
        workspace.agents.iter().for_each(|_| found.record_examined());
        for cycle in DelegationGraph::of(workspace).cycles() {
            if let Some(at) = cycle.hops.last() {
                found.error(at, format!("delegation cycle: {cycle}"), "remove this edge or another edge of the cycle");
            }
        }
    }

    fn rejects(&self) -> ExampleWorkspace {
        ExampleWorkspace::minimal().edit("agents/trader.md", "delegates_to: [safety-guardian]", "delegates_to: [safety-guardian, desk]")
    }
}
