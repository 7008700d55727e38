//! Cases that did not pass in the last stored run.

use super::outcome::RunStop;
use crate::stored_runs;
use campaign::{failed_cases, glob_match};
use model::{UserError, Workspace};
use store::StoreLocation;

/// Returns the cases that did not pass, still exist and match one of the patterns, if there are any.
///
/// # Errors
/// If there is no stored run, or no such case.
pub(super) fn last_failed_cases(store: &StoreLocation, workspace: &Workspace, patterns: &[String]) -> Result<Vec<String>, RunStop> {
    let (store, run) = stored_runs::find_run(store, None)?;
    let mut failed = failed_cases(&store, run.run).map_err(UserError::from)?;
    if failed.is_empty() {
        return Err(RunStop::NoneFailed { why: format!("no case failed in run {}", run.short_run_id()) });
    }
    failed.retain(|case| workspace.case(case).is_some());
    if failed.is_empty() {
        let why = format!("the cases that failed in run {} are no longer in the workspace", run.short_run_id());
        return Err(RunStop::NoneFailed { why });
    }
    let is_known = |pattern: &String| workspace.cases().any(|case| glob_match(pattern, &case.id));
    if patterns.is_empty() || !patterns.iter().all(is_known) {
        // A pattern without a case is refused with the other unknown names.
        return Ok([failed, patterns.to_vec()].concat());
    }
    failed.retain(|case| patterns.iter().any(|pattern| glob_match(pattern, case)));
    let why = || format!("no case of --case failed in run {}", run.short_run_id());
    if failed.is_empty() { Err(RunStop::NoneFailed { why: why() }) } else { Ok(failed) }
}
