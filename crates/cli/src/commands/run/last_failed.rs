//! Cases that did not pass in the last stored run.

use super::outcome::RunStop;
use crate::stored_runs;
use campaign::failed_cases;
use model::{UserError, Workspace};
use store::StoreLocation;

/// Returns the cases that did not pass and still exist.
///
/// # Errors
/// If there is no stored run. Without such a case the selection is empty.
pub(super) fn last_failed_cases(store: &StoreLocation, workspace: &Workspace) -> Result<Vec<String>, RunStop> {
    let (store, run) = stored_runs::find_run(store, None)?;
    let mut failed = failed_cases(&store, run.run).map_err(UserError::from)?;
    if failed.is_empty() {
        return Err(RunStop::NoneFailed { why: format!("no case failed in run {}", run.short_run_id()) });
    }
    failed.retain(|case| workspace.case(case).is_some());
    let why = || format!("the cases that failed in run {} are no longer in the workspace", run.short_run_id());
    if failed.is_empty() { Err(RunStop::NoneFailed { why: why() }) } else { Ok(failed) }
}
