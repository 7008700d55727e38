//! Cases of a stored run that did not pass.

use model::CaseOutcome;
use score::outcome::case_outcome;
use store::{Store, StoreError};

/// Returns the cases with a trial that failed, was aborted or was not judged, in the order of the plan.
pub fn failed_cases(store: &Store, run: i64) -> Result<Vec<String>, StoreError> {
    let mut failed: Vec<String> = vec![];
    store.for_each_ended(run, |ended| {
        let is_passed = case_outcome(&ended.ending, &ended.scores) == CaseOutcome::Passed;
        if !is_passed && !failed.contains(&ended.trial.case) {
            failed.push(ended.trial.case);
        }
    })?;
    Ok(failed)
}
