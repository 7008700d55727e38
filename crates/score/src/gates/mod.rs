//! Gate verdicts: slices, pooled readings and bounds.

mod case_readings;
mod gate_judge;
mod judge_need;
mod pool;
mod slice_verdict;
mod slices;
mod stopping;
#[cfg(test)]
mod tests;
mod unit;

pub use case_readings::CaseReadings;
pub use gate_judge::{GateJudge, MeasuredTrial, SliceReadings, judge_gates};
pub use judge_need::{JudgedSlices, judged_slices, needs_judge};
pub(crate) use slice_verdict::allows_no_miss;
pub use unit::{case_unit, reads_attacks_only};

use crate::scorers::{ScorerHandle, scorer_named};
use model::suite::Case;
use model::{Gate, Workspace};
use std::collections::{BTreeMap, BTreeSet};

/// Returns the labels of the slices of a gate.
pub fn slice_labels(gate: &Gate, workspace: &Workspace) -> Vec<String> {
    slices::slices_of_gate(gate, workspace).iter().map(slices::SliceKey::label).collect()
}

/// Returns, per slice of a gate, the number of cases that concern its scorer. Attacks that differ by their seed alone count once.
pub fn cases_per_slice(gate: &Gate, workspace: &Workspace, scorer: ScorerHandle<'_>) -> Vec<(String, usize)> {
    let cases: Vec<&Case> = workspace.cases().collect();
    cases_in_slices(gate, workspace, scorer, &cases)
}

/// Returns the number of cases that should exercise each gate, by its id.
pub fn cases_by_gate(workspace: &Workspace) -> BTreeMap<String, usize> {
    let cases: Vec<&Case> = workspace.cases().collect();
    let count = |gate: &Gate| {
        let scorer = scorer_named(workspace, &gate.scorer)?;
        let members = members_of_slices(gate, workspace, scorer, &cases);
        Some(members.into_iter().flat_map(|(_, members)| members).collect::<BTreeSet<_>>().len())
    };
    workspace.gates.iter().map(|gate| (gate.id.value.clone(), count(gate).unwrap_or(0))).collect()
}

/// Like [`cases_per_slice`], for the given cases.
pub fn cases_in_slices(gate: &Gate, workspace: &Workspace, scorer: ScorerHandle<'_>, cases: &[&Case]) -> Vec<(String, usize)> {
    let units = |members: Vec<usize>| members.into_iter().map(|n| unit::case_unit(&gate.scorer, cases[n])).collect::<BTreeSet<_>>().len();
    members_of_slices(gate, workspace, scorer, cases).into_iter().map(|(slice, members)| (slice, units(members))).collect()
}

/// Returns, per slice of a gate, the indices of the cases that count in it.
pub fn members_of_slices(gate: &Gate, workspace: &Workspace, scorer: ScorerHandle<'_>, cases: &[&Case]) -> Vec<(String, Vec<usize>)> {
    let concerned: Vec<(usize, &&Case)> = cases.iter().enumerate().filter(|(_, case)| scorer.concerns(workspace, case)).collect();
    let members = |slice: &slices::SliceKey| {
        concerned.iter().filter(|(_, case)| slices::slice_contains(gate, slice, workspace, case)).map(|(n, _)| *n).collect()
    };
    slices::slices_of_gate(gate, workspace).into_iter().map(|slice| (slice.label(), members(&slice))).collect()
}
