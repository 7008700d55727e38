//! Cases that did not pass in the last stored run.

use crate::stored_runs;
use campaign::failed_cases;
use model::{UserError, Workspace};
use store::StoreLocation;

/// Returns the cases that did not pass and still exist.
///
/// # Errors
/// If there is no stored run or no such case.
pub(super) fn last_failed_cases(store: &StoreLocation, workspace: &Workspace) -> Result<Vec<String>, UserError> {
    let (store, run) = stored_runs::find_run(store, None)?;
    let mut failed = failed_cases(&store, run.run)?;
    if failed.is_empty() {
        return Err(UserError::new(format!("no case failed in run {}", run.short_id()), "--last-failed has nothing to select"));
    }
    failed.retain(|case| workspace.case(case).is_some());
    if failed.is_empty() { Err(UserError::without_remedy("the failed cases are no longer in the workspace")) } else { Ok(failed) }
}
