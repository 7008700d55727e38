//! Prints a run report, and writes the further ones that were asked for.

use super::{ComparisonReport, RunReport, comparison_lines, html, screen, smoke_text};
use crate::args::{ReportFileArgs, ReportFormat, ReportKind};
use crate::exit::ExitKind;
use crate::io::{CliOutput, exit_after};
use crate::workspace_source::WorkspaceSource;
use model::Workspace;
use score::checks::CheckResult;

/// Prints the report of a run with `render`, which follows the format of its output. A file that cannot be written makes a clean exit
/// incomplete. The verdicts go to standard error if the result goes to a file.
pub(crate) fn print_run(io: &CliOutput, files: &ReportFileArgs, shown: &RunReport<'_>, render: impl Fn(&CliOutput) -> String) -> ExitKind {
    let mut exit = shown.exit;
    for file in &files.reports {
        exit = match file.kind {
            ReportKind::Format(format) => {
                let to_file = io.to_file(format, &file.path);
                to_file.print_result(&render(&to_file), exit)
            }
            ReportKind::Html => io.to_file(ReportFormat::Text, &file.path).print_result(&html::run(shown), exit),
        };
    }
    let is_delivered = io.deliver_result(&render(io));
    if let Some(path) = io.output_file() {
        let place = if is_delivered { format!("; report in {}", path.display()) } else { String::new() };
        io.print_message(&format!("{}{place}", screen::verdict_line(shown)));
        shown.comparison().iter().flat_map(comparison_lines).for_each(|line| io.print_message(&line));
    }
    exit_after(is_delivered, exit)
}

/// Prints the result of smoke. The verdict goes to standard error if the result goes to a file.
pub(crate) fn print_smoke(
    io: &CliOutput,
    source: &WorkspaceSource,
    workspace: &Workspace,
    results: &[CheckResult],
    exit: ExitKind,
) -> ExitKind {
    let exit = io.print_result(&super::smoke(io, source, workspace, results, exit), exit);
    if io.output_file().is_some() {
        io.print_message(&smoke_text::verdict_line(results));
    }
    exit
}

/// Prints a comparison, and writes the further reports that were asked for. The verdict goes to standard error if the result goes to a file.
pub(crate) fn print_comparison(io: &CliOutput, files: &ReportFileArgs, shown: &ComparisonReport<'_>) -> ExitKind {
    let mut exit = shown.exit;
    for file in &files.reports {
        let (to_file, text) = match file.kind {
            ReportKind::Format(format) => {
                let to_file = io.to_file(format, &file.path);
                let text = super::comparison(&to_file, shown);
                (to_file, text)
            }
            ReportKind::Html => (io.to_file(ReportFormat::Text, &file.path), html::comparison(shown)),
        };
        exit = to_file.print_result(&text, exit);
    }
    let exit = io.print_result(&super::comparison(io, shown), exit);
    if io.output_file().is_some() {
        comparison_lines(shown).iter().for_each(|line| io.print_message(line));
    }
    exit
}
