//! Checks the files of further reports before anything is run.

use crate::args::ReportFileArgs;
use crate::files;
use crate::io::CliOutput;
use model::UserError;
use std::path::Path;

/// Returns what is wrong with the files of the output and of further reports: a folder, or a file that two reports would write.
pub(super) fn report_file_problems(io: &CliOutput, args: &ReportFileArgs) -> Vec<UserError> {
    let mut seen: Vec<&Path> = io.output_file().into_iter().collect();
    let mut problems = vec![];
    if let Some(path) = io.output_file().filter(|path| files::is_folder(path)) {
        problems.push(UserError::new(format!("--output {} is a folder", path.display()), "name a file"));
    }
    for report in &args.reports {
        let path = report.path.as_path();
        if files::is_folder(path) {
            problems.push(UserError::new(format!("--report {} is a folder", path.display()), "name a file"));
        } else if seen.contains(&path) {
            problems.push(UserError::new(format!("two reports go to {}", path.display()), "give each its own file"));
        }
        seen.push(path);
    }
    problems
}
