//! Cases of a stored run that did not pass.

use model::CaseOutcome;
use score::outcome::case_outcome;
use std::collections::HashSet;
use store::{Store, StoreError};

/// Returns the cases with a trial that failed, was aborted or was not judged, in the order of the plan.
pub fn failed_cases(store: &Store, run: i64) -> Result<Vec<String>, StoreError> {
    let (mut failed, mut seen) = (vec![], HashSet::new());
    store.for_each_ended(run, |ended| {
        let is_passed = case_outcome(&ended.ending, &ended.scores) == CaseOutcome::Passed;
        if !is_passed && seen.insert(ended.trial.case.clone()) {
            failed.push(ended.trial.case);
        }
    })?;
    Ok(failed)
}
