//! Result files of promptfoo as sides of comparisons and baselines.

use crate::files;
use campaign::PlainResult;
use model::UserError;
use std::path::Path;

/// Returns whether a name is that of a result file, and not the id of a run.
pub(super) fn names_results(name: &str) -> bool {
    name.ends_with(".json")
}

/// Reads a result file of promptfoo. Tests are named by their description, else by their variables; repeats are trials of one test.
pub(super) fn read_plain_results(path: &Path) -> Result<Vec<PlainResult>, UserError> {
    let wrong =
        |why: String| UserError::new(format!("{}: {why}", path.display()), "name a file that promptfoo or `run CONFIG -o FILE.json` wrote");
    let text = files::read_results(path).map_err(|why| wrong(why.to_string()))?;
    let rows = promptfoo::read_results(&text).map_err(wrong)?;
    Ok(rows
        .iter()
        .map(|row| PlainResult {
            case: row.case_name(),
            subject: row.subject().to_owned(),
            passed: (!row.is_error()).then_some(row.success),
            latency_ms: row.latency_ms.max(0.0) as u64,
        })
        .collect())
}
