//! What a person or a machine reads. Every report takes finished data; none can reach what made it.

mod annotations;
mod escape;
mod explain;
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

pub(crate) use escape::visible;
pub(crate) use explain::{Topic, explain};
pub(crate) use plan::plan;
pub(crate) use problems::{complained, problems, refused};
pub(crate) use rescored::rescored;
pub(crate) use show::{Live, diff, show};
pub(crate) use table::table;

use crate::args::Format;
use crate::exit::Exit;
use crate::io::Io;
use crate::open::Source;
use campaign::Summary;
use model::{CaseOutcome, Ending, Money, Score, ScorerName, Workspace, WorstCase};
use score::checks::CheckResult;
use score::outcome::case_outcome;
use store::EndedTrial;

/// Version of the JSON that commands print.
pub(crate) const FORMAT: u32 = 1;

pub(crate) fn smoke(io: &Io, source: &Source, workspace: &Workspace, results: &[CheckResult], exit: Exit) -> String {
    match io.format {
        Format::Text => smoke_text::render(io, source, workspace, results),
        Format::Json => smoke_json::render(io, workspace, results, exit),
        Format::Junit => junit::smoke(io, results),
        Format::Markdown => smoke_markdown::render(io, results),
        Format::Github => annotations::smoke(io, results),
        Format::Sarif => sarif::smoke(io, results),
    }
}

/// A judged run and what a reader may want to know beside it.
#[derive(Debug)]
pub(crate) struct Shown<'r> {
    pub command: &'static str,
    pub source: &'r Source,
    pub workspace: &'r Workspace,
    pub summary: &'r Summary,
    /// One for each trial, where the report wants them.
    pub lines: Vec<TrialLine>,
    /// What to type after a trial so that `show` finds it; absent where the run was not kept.
    pub kept_as: Option<String>,
    pub spent: Money,
    /// What is known about the judge, where one was asked.
    pub judge: Option<String>,
    pub exit: Exit,
}

/// What a report for a machine says of one trial.
#[derive(Debug)]
pub(crate) struct TrialLine {
    pub case: String,
    pub subject: String,
    pub outcome: CaseOutcome,
    pub ending: String,
    pub missed: Vec<Missed>,
}

/// A scorer that read a violation, and why.
#[derive(Debug)]
pub(crate) struct Missed {
    pub scorer: ScorerName,
    pub because: String,
}

impl TrialLine {
    pub(crate) fn new(case: &str, subject: &str, ending: &Ending, scores: &[Score]) -> Self {
        let because = |score: &Score| score.because.iter().map(|because| because.what.as_str()).collect::<Vec<_>>().join("; ");
        let missed = scores.iter().filter(|score| score.reading.is_violation());
        Self {
            case: case.to_owned(),
            subject: subject.to_owned(),
            outcome: case_outcome(ending, scores),
            ending: ending.to_string(),
            missed: missed.map(|score| Missed { scorer: score.scorer.clone(), because: because(score) }).collect(),
        }
    }
}

impl From<EndedTrial> for TrialLine {
    fn from(ended: EndedTrial) -> Self {
        Self::new(&ended.trial.case, &ended.trial.subject, &ended.ending, &ended.scores)
    }
}

/// Only these reports speak of each trial.
pub(crate) fn wants_lines(io: &Io) -> bool {
    matches!(io.format, Format::Junit | Format::Sarif)
}

impl Shown<'_> {
    /// The command that shows one of the worst cases: as it was stored, or by running it again.
    fn command_for(&self, io: &Io, subject: &str, worst: &WorstCase) -> String {
        if let Some(run) = &self.kept_as {
            return format!("bardo-eval show {}{run}{}", worst.trial, io.workspace_flag());
        }
        format!("bardo-eval run --case {} --subject {subject}{}", worst.case, io.workspace_flag())
    }
}

pub(crate) fn run(io: &Io, shown: &Shown<'_>) -> String {
    match io.format {
        Format::Text => run_text::render(io, shown),
        Format::Json => format!("{:#}\n", run_json::document(io, shown)),
        Format::Junit => junit::run(io, shown),
        Format::Markdown => run_markdown::render(io, shown),
        Format::Github => annotations::run(io, shown),
        Format::Sarif => sarif::run(io, shown),
    }
}

/// Joins parts of one line that are read as columns.
pub(crate) fn columns<const N: usize>(parts: [&str; N]) -> String {
    parts.join("  ")
}

/// "1 error", "2 errors".
pub(crate) fn count(n: usize, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}
