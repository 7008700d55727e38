//! The cases that did not pass in the last run.

use crate::kept;
use campaign::failed_cases;
use model::Workspace;
use std::path::Path;

/// Those the workspace still has.
pub(super) fn last(store: &Path, workspace: &Workspace) -> Result<Vec<String>, String> {
    let (store, run) = kept::find(store, None)?;
    let mut failed = failed_cases(&store, run.run).map_err(|error| error.to_string())?;
    if failed.is_empty() {
        return Err(format!("no case failed in run {}  --last-failed has nothing to select", run.short()));
    }
    failed.retain(|case| workspace.case(case).is_some());
    if failed.is_empty() { Err("the cases that failed are no longer in the workspace".into()) } else { Ok(failed) }
}
