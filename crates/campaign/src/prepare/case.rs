//! Per-case state shared by trials: world template and scorers.

use crate::plan::RunPlan;
use model::ScorerId;
use score::scorers::{Scorer, scorers_for_case};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use world::{ChainKind, RandomOperator, WorldTemplate};

/// Scorers of a case. Most cases of a suite share one set.
pub(crate) type ScorerSet = Arc<[&'static dyn Scorer]>;

pub(crate) struct PreparedCase {
    /// `None` if the workspace has no such world; trials of the case are aborted.
    pub world: Option<Arc<WorldTemplate>>,
    /// The same world with a random operator, for external agents.
    pub external_world: Option<Arc<WorldTemplate>>,
    pub scorers: ScorerSet,
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
    let mut scorer_sets: BTreeMap<Vec<ScorerId>, ScorerSet> = BTreeMap::new();
    let prepared = plan.cases().map(|case| {
        let name = case.brief.world.as_str();
        let [world, external_world] = worlds.entry(name).or_insert_with(|| {
            let external = operator.and_then(|one| WorldTemplate::with_random_operator(workspace, name, one, chains.clone()).ok());
            [WorldTemplate::new(workspace.clone(), name, chains.clone()).ok(), external]
        });
        let scorers = scorers_for_case(workspace, case);
        let scorers = scorer_sets.entry(scorers.iter().map(|scorer| scorer.id()).collect()).or_insert_with(|| scorers.into());
        PreparedCase { world: world.clone(), external_world: external_world.clone(), scorers: scorers.clone() }
    });
    prepared.collect()
}
