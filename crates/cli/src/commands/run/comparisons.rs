//! Comparison of a run with an earlier one, or of its subjects with each other.

use crate::commands::compare::{NamedSide, SubjectChoice, pair_subjects};
use campaign::{
    ComparedSide, LiveRun, PreparedRun, RunHandle, RunSummary, SubjectComparison, UnjudgedTrials, compare_subjects, handle_side,
};
use model::UserError;

/// Refuses a side that no subject of the run can be compared with, before anything is run.
pub(super) fn check_subjects(against: &NamedSide, subjects: &[String]) -> Result<(), UserError> {
    pair_subjects(&against.choice(), &run_choice(subjects)).map(drop)
}

fn run_choice(subjects: &[String]) -> SubjectChoice {
    SubjectChoice { label: "this run".to_owned(), subjects: subjects.to_vec(), is_named: false, is_golden: false }
}

/// Compares every subject with the earlier side; without one, the first subject with every other.
pub(super) fn run_comparisons(
    against: Option<&NamedSide>,
    prepared: &PreparedRun,
    handle: &RunHandle,
    summary: &RunSummary,
) -> Result<Vec<SubjectComparison>, UserError> {
    let plan = prepared.plan();
    let workspace = plan.workspace();
    let run = LiveRun { handle, outline: plan.outline(), settings: &plan.spec().settings, summary };
    let unjudged = against.map_or(UnjudgedTrials::NoResult, NamedSide::unjudged);
    let own = |subject: &str| handle_side(workspace, run, subject, unjudged);
    let mut compared = vec![];
    match (against, summary.subjects.as_slice()) {
        (Some(against), subjects) => {
            for (one, other) in pair_subjects(&against.choice(), &run_choice(subjects))? {
                compared.push(compare_subjects(&against.read(workspace, &one, unjudged)?, &own(&other)?));
            }
        }
        (None, [first, others @ ..]) if !others.is_empty() => {
            let first: ComparedSide<'_> = own(first)?;
            for other in others {
                compared.push(compare_subjects(&first, &own(other)?));
            }
        }
        (None, _) => {}
    }
    Ok(compared)
}
