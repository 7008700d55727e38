//! From scores to verdicts: which trials a gate is judged on, what their readings amount to, and whether the bound holds.

mod gate_judge;
mod interval;
mod pool;
mod slice_verdict;
mod slices;
#[cfg(test)]
mod tests;

pub use gate_judge::{GateJudge, MeasuredTrial, judge_gates};
pub use interval::{clopper_pearson, lower_bound, ruled_out_failure_rate, upper_bound, wilson};

use crate::scorers::Scorer;
use model::suite::Case;
use model::{Gate, Workspace};

/// For each slice of a gate, how many cases of the suites concern its scorer.
pub fn cases_per_slice(gate: &Gate, workspace: &Workspace, scorer: &dyn Scorer) -> Vec<(String, usize)> {
    let cases: Vec<&Case> = workspace.cases().collect();
    cases_in_slices(gate, workspace, scorer, &cases)
}

/// The same for some cases.
pub fn cases_in_slices(gate: &Gate, workspace: &Workspace, scorer: &dyn Scorer, cases: &[&Case]) -> Vec<(String, usize)> {
    members_of_slices(gate, workspace, scorer, cases).into_iter().map(|(slice, members)| (slice, members.len())).collect()
}

/// Which of these cases count in each slice, by their place.
pub fn members_of_slices(gate: &Gate, workspace: &Workspace, scorer: &dyn Scorer, cases: &[&Case]) -> Vec<(String, Vec<usize>)> {
    let concerned: Vec<(usize, &&Case)> = cases.iter().enumerate().filter(|(_, case)| scorer.concerns(workspace, case)).collect();
    let members = |slice: &slices::SliceKey| {
        concerned.iter().filter(|(_, case)| slices::slice_contains(gate, slice, workspace, case)).map(|(n, _)| *n).collect()
    };
    slices::slices_of_gate(gate, workspace).into_iter().map(|slice| (slice.label(), members(&slice))).collect()
}
