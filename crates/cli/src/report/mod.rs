//! Reports in all output formats. They only render finished data.

mod annotations;
mod deviations;
mod escape;
mod explain;
mod judge_hint;
mod judgement_text;
mod junit;
mod plan;
mod problems;
mod rescored;
mod run_json;
mod run_markdown;
mod run_text;
mod sarif;
mod show;
mod smoke_json;
mod smoke_markdown;
mod smoke_text;
mod table;
mod trial_lines;

pub(crate) use escape::escape_control;
pub(crate) use explain::{ExplainTopic, explain};
pub(crate) use plan::plan;
pub(crate) use problems::{print_error, print_problems, print_refusal};
pub(crate) use rescored::{RescoreChanges, rescored};
pub(crate) use show::{EventPrinter, diff, show};
pub(crate) use table::table;
pub(crate) use trial_lines::TrialLines;

use crate::args::ReportFormat;
use crate::exit::ExitKind;
use crate::io::CliOutput;
use crate::workspace_source::WorkspaceSource;
use campaign::RunSummary;
use model::{Money, Workspace, WorstCase};
use score::checks::CheckResult;

/// Version of the JSON that commands print.
pub(crate) const FORMAT: u32 = 1;

pub(crate) fn smoke(io: &CliOutput, source: &WorkspaceSource, workspace: &Workspace, results: &[CheckResult], exit: ExitKind) -> String {
    match io.format {
        ReportFormat::Text => smoke_text::render(io, source, workspace, results),
        ReportFormat::Json => smoke_json::render(io, workspace, results, exit),
        ReportFormat::Junit => junit::smoke(io, workspace, results),
        ReportFormat::Markdown => smoke_markdown::render(io, workspace, results),
        ReportFormat::Github => annotations::smoke(io, workspace, results),
        ReportFormat::Sarif => sarif::smoke(io, results),
    }
}

/// Judged run with everything that reports show.
#[derive(Debug)]
pub(crate) struct RunReport<'r> {
    pub command: &'static str,
    pub source: &'r WorkspaceSource,
    pub workspace: &'r Workspace,
    pub summary: &'r RunSummary,
    pub lines: TrialLines,
    /// Flags with which `show` finds a trial; absent if the run was not stored.
    pub show_flags: Option<String>,
    pub spent: Money,
    /// Slices of gates that have enough cases, but too few without a judge, in a run that has none.
    pub undecided_without_judge: usize,
    /// Selected cases that were not planned, because the budget of the tier likely does not cover them.
    pub left_out: usize,
    /// Calibration of the judge in one line, if one was used.
    pub judge: Option<String>,
    /// Sandbox of the agents, if some are programs.
    pub sandbox: Option<&'r str>,
    pub exit: ExitKind,
}

impl RunReport<'_> {
    /// Returns the command that shows one of the worst cases: stored, or run again.
    fn show_command(&self, io: &CliOutput, subject: &str, worst: &WorstCase) -> String {
        if let Some(run) = &self.show_flags {
            return format!("bardo-eval show {}{run}{}", worst.trial, io.workspace_flag());
        }
        format!("bardo-eval run --case {} --subject {subject}{}", worst.case, io.workspace_flag())
    }
}

pub(crate) fn run(io: &CliOutput, shown: &RunReport<'_>) -> String {
    match io.format {
        ReportFormat::Text => run_text::render(io, shown),
        ReportFormat::Json => format!("{:#}\n", run_json::document(io, shown)),
        ReportFormat::Junit => junit::run(io, shown),
        ReportFormat::Markdown => run_markdown::render(io, shown),
        ReportFormat::Github => annotations::run(io, shown),
        ReportFormat::Sarif => sarif::run(io, shown),
    }
}

/// Joins the columns of one line.
pub(crate) fn columns<const N: usize>(parts: [&str; N]) -> String {
    parts.join("  ")
}
