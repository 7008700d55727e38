//! Reports in all output formats. They only render finished data.

mod annotations;
mod attack_summary;
mod changed;
mod comparison;
mod deviations;
mod explain;
mod files;
mod gate_table;
mod html;
mod judge_correction;
mod judge_hint;
mod junit;
mod logs;
mod plan;
mod problems;
mod production;
mod red_team;
mod rescored;
mod run_json;
mod run_markdown;
mod sarif;
mod screen;
mod selftest;
mod show;
mod shrink;
mod smoke_json;
mod smoke_markdown;
mod smoke_text;
mod table;
mod trial_lines;
mod wrap;

pub(crate) use attack_summary::summarize_attacks;
pub(crate) use changed::{changed_text, left_out_note};
use comparison::comparison_lines;
pub(crate) use comparison::{ComparisonReport, comparison};
pub(crate) use explain::{ExplainExamples, ExplainTopic, explain};
pub(crate) use files::{print_comparison, print_run, print_smoke};
pub(crate) use logs::{ScoredLogs, print_logs};
pub(crate) use plan::plan;
pub(crate) use problems::{print_error, print_problems, print_refusal};
pub(crate) use production::{WatchReport, watch_json, watch_markdown, watch_text};
pub(crate) use rescored::{RescoreChanges, rescored};
pub(crate) use selftest::selftest;
pub(crate) use show::{EventPrinter, agent_remedy, diff, output_hint, output_lines, show};
pub(crate) use shrink::{shrunk, shrunk_text};
pub(crate) use table::table;
pub(crate) use trial_lines::TrialLines;

pub(crate) use present::escape::escape_control;
use present::{cause_text, escape, gate_lines, judgement_text};

use crate::args::{FailOn, ReportFormat};
use crate::exit::ExitKind;
use crate::io::CliOutput;
use crate::shell::shell_quoted;
use crate::workspace_source::WorkspaceSource;
use campaign::{RedTeamReport, RunSummary, SubjectComparison};
use model::{Money, Workspace, WorstCase};
use score::checks::CheckResult;
use score::statistics::JudgeErrorRates;
use score::workspace_changes::ChangedSelection;
use std::time::Duration;

/// Version of the JSON that commands print.
pub(crate) const FORMAT: u32 = 1;

fn smoke(io: &CliOutput, source: &WorkspaceSource, workspace: &Workspace, results: &[CheckResult], exit: ExitKind) -> String {
    match io.format {
        ReportFormat::Text => smoke_text::render(io, source, workspace, results),
        ReportFormat::Json => smoke_json::render(io, workspace, results, exit),
        ReportFormat::Junit => junit::smoke(io, workspace, results),
        ReportFormat::Markdown => smoke_markdown::render(io, workspace, results),
        ReportFormat::Github => annotations::smoke(io, workspace, results),
        ReportFormat::Sarif => sarif::smoke(io, results, exit),
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
    /// Id of the run; absent if it was not stored.
    pub run: Option<&'r str>,
    /// The workspace has golden baselines of the subject.
    pub baseline: bool,
    /// UTC, ISO 8601.
    pub started: &'r str,
    /// Time since this process started the run; absent if nothing was run.
    pub elapsed: Option<Duration>,
    /// Flag with which commands use the same store.
    pub store_flag: String,
    /// Flags with which `show` finds a trial; absent if the run was not stored.
    pub show_flags: Option<String>,
    pub spent: Money,
    /// Slices of gates that have enough cases, but too few without a judge, in a run that has none.
    pub undecided_without_judge: usize,
    /// Selected cases that were not planned, because the budget of the tier likely does not cover them.
    pub left_out: usize,
    /// Calibration of the judge in one line, if one was used.
    pub judge: Option<String>,
    /// Errors of the judge on labelled examples, if it was calibrated.
    pub judge_errors: Option<JudgeErrorRates>,
    /// Summary of attacks by subject; empty if the run has none.
    pub red_team: Vec<RedTeamReport>,
    /// Comparisons with an earlier run, or of several subjects.
    pub comparisons: Vec<SubjectComparison>,
    /// Changes that fail a comparison with an earlier run, which comes first; absent without such a comparison.
    pub against: Option<FailOn>,
    /// Cases selected because something changed.
    pub changed: Option<&'r ChangedSelection>,
    /// The replies of the subject come from recordings; no model was asked for them.
    pub is_replay: bool,
    /// Sandbox of the agents, if some are programs.
    pub sandbox: Option<&'r str>,
    pub exit: ExitKind,
}

impl RunReport<'_> {
    /// Returns the comparisons as they are printed; `None` if there are none.
    fn comparison(&self) -> Option<ComparisonReport<'_>> {
        let store_flag = self.store_flag.clone();
        let (exit, fail_on) = (self.exit, self.against);
        let left_out_showing = self.changed.filter(|_| fail_on.is_some()).map_or(0, |changed| changed.left_out_showing);
        let comparisons = self.comparisons.as_slice();
        (!comparisons.is_empty()).then_some(ComparisonReport { comparisons, store_flag, exit, fail_on, left_out_showing })
    }

    /// Returns names and values that identify the run: run, subjects, workspace, date, record and tier.
    fn provenance(&self) -> Vec<(&'static str, String)> {
        let mut found = vec![];
        if let Some(run) = self.run {
            found.push(("run", run.to_owned()));
        }
        found.push(("subject", self.summary.subjects.join(", ")));
        found.push(("workspace", format!("{} {}", self.source.label(), self.workspace.hash.short())));
        found.push(("started", self.started.to_owned()));
        found.push(("record", self.summary.record.short().to_owned()));
        if let Some(tier) = self.summary.claim.tier {
            found.push(("tier", tier.to_string()));
        }
        if self.is_replay {
            found.push(("replies", "from recordings".to_owned()));
        }
        found
    }

    /// Returns the command that shows one of the worst cases: stored, or run again.
    fn show_command(&self, io: &CliOutput, subject: &str, worst: &WorstCase) -> String {
        if let Some(run) = &self.show_flags {
            return format!("bardo-eval show {}{run}{}", worst.trial, io.workspace_flag());
        }
        format!("bardo-eval run --case {} --subject {}{}", worst.case, shell_quoted(subject), io.workspace_flag())
    }
}

pub(crate) fn run(io: &CliOutput, shown: &RunReport<'_>) -> String {
    match io.format {
        ReportFormat::Text => screen::render(io, shown),
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
