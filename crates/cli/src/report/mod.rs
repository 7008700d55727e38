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

pub(crate) use escape::escape_control;
pub(crate) use explain::{ExplainTopic, explain};
pub(crate) use plan::plan;
pub(crate) use problems::{print_error, print_problems, print_refusal};
pub(crate) use rescored::rescored;
pub(crate) use show::{EventPrinter, diff, show};
pub(crate) use table::table;

use crate::args::ReportFormat;
use crate::exit::ExitKind;
use crate::io::CliOutput;
use crate::workspace_source::WorkspaceSource;
use campaign::RunSummary;
use model::{CaseOutcome, Ending, Money, Score, ScorerName, Workspace, WorstCase};
use score::checks::CheckResult;
use score::outcome::case_outcome;
use store::EndedTrial;

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
    /// One per trial; empty if the format does not need them, see [`needs_trial_lines`].
    pub lines: Vec<TrialLine>,
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

/// One trial in a report.
#[derive(Debug)]
pub(crate) struct TrialLine {
    pub case: String,
    pub subject: String,
    pub outcome: CaseOutcome,
    pub ending: String,
    pub missed: Vec<MissedScore>,
}

/// Scorer that found a violation, and why.
#[derive(Debug)]
pub(crate) struct MissedScore {
    pub scorer: ScorerName,
    pub because: String,
}

impl TrialLine {
    pub(crate) fn new(case: &str, subject: &str, ending: &Ending, scores: &[Score]) -> Self {
        let missed = scores.iter().filter(|score| score.reading.is_violation());
        Self {
            case: case.to_owned(),
            subject: subject.to_owned(),
            outcome: case_outcome(ending, scores),
            ending: ending.to_string(),
            missed: missed.map(|score| MissedScore { scorer: score.scorer.clone(), because: score.reasons() }).collect(),
        }
    }
}

impl From<EndedTrial> for TrialLine {
    fn from(ended: EndedTrial) -> Self {
        Self::new(&ended.trial.case, &ended.trial.subject, &ended.ending, &ended.scores)
    }
}

/// Returns true if the report format lists single trials.
pub(crate) fn needs_trial_lines(io: &CliOutput) -> bool {
    matches!(io.format, ReportFormat::Junit | ReportFormat::Sarif)
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
