//! Gates that need a judge for their minimum of cases.

use super::members_of_slices;
use crate::scorers::ScorerHandle;
use model::suite::Case;
use model::{Gate, Workspace};

/// Reports whether a scorer has no reading of this case without the verdict of a judge.
pub fn needs_judge(scorer: ScorerHandle<'_>, case: &Case) -> bool {
    case.expect.rubric.is_some() && scorer.needs_judge()
}

/// Number of slices of a gate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct JudgedSlices {
    /// Slices that only a judge can decide: they have enough cases with a judge, and too few without.
    pub only_judged: usize,
    pub all: usize,
}

/// Counts the slices of a gate that only a judge can decide.
pub fn judged_slices(gate: &Gate, workspace: &Workspace, scorer: ScorerHandle<'_>) -> JudgedSlices {
    let cases: Vec<&Case> = workspace.cases().collect();
    let slices = members_of_slices(gate, workspace, scorer, &cases);
    let only_judged = slices.iter().filter(|(_, members)| {
        let free = members.iter().filter(|n| !needs_judge(scorer, cases[**n])).count();
        members.len() >= gate.min_cases && free < gate.min_cases
    });
    JudgedSlices { only_judged: only_judged.count(), all: slices.len() }
}
