//! Per-case state shared by trials: world template and scorers.

use crate::plan::RunPlan;
use score::scorers::{Scorer, scorers_for_case};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use world::{ChainKind, RandomOperator, WorldTemplate};

pub(crate) struct PreparedCase {
    /// `None` if the workspace has no such world; trials of the case are aborted.
    pub world: Option<Arc<WorldTemplate>>,
    /// The same world with a random operator, for external agents.
    pub external_world: Option<Arc<WorldTemplate>>,
    pub scorers: Vec<&'static dyn Scorer>,
}

impl fmt::Debug for PreparedCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreparedCase").field("scorers", &self.scorers.len()).finish_non_exhaustive()
    }
}

/// Prepares the cases of a plan, in its order. Cases of the same world share its template.
pub(super) fn prepared_cases(plan: &RunPlan, chains: &ChainKind, operator: Option<&RandomOperator>) -> Arc<[PreparedCase]> {
    let workspace = plan.workspace();
    let mut worlds: BTreeMap<&str, [Option<Arc<WorldTemplate>>; 2]> = BTreeMap::new();
    let prepared = plan.cases().map(|case| {
        let name = case.brief.world.as_str();
        let [world, external_world] = worlds.entry(name).or_insert_with(|| {
            let external = operator.and_then(|one| WorldTemplate::with_random_operator(workspace, name, one, chains.clone()).ok());
            [WorldTemplate::new(workspace.clone(), name, chains.clone()).ok(), external]
        });
        PreparedCase { world: world.clone(), external_world: external_world.clone(), scorers: scorers_for_case(workspace, case) }
    });
    prepared.collect()
}
