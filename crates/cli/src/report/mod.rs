//! What a person or a machine reads. Every report takes finished data; none can reach what made it.

mod junit;
mod problems;
mod rescored;
mod run_json;
mod run_markdown;
mod run_text;
mod show;
mod smoke_json;
mod smoke_markdown;
mod smoke_text;
mod table;

pub(crate) use problems::{problems, refused};
pub(crate) use rescored::rescored;
pub(crate) use show::{diff, show};
pub(crate) use table::table;

use crate::args::Format;
use crate::exit::Exit;
use crate::io::Io;
use crate::open::Source;
use model::{Plan, RunRecord, Workspace, WorstCase};
use score::checks::CheckResult;
use serde_json::json;

/// Version of the JSON that commands print.
pub(crate) const FORMAT: u32 = 1;

pub(crate) fn smoke(io: &Io, source: &Source, workspace: &Workspace, results: &[CheckResult], exit: Exit) -> String {
    match io.format {
        Format::Text => smoke_text::render(io, source, workspace, results),
        Format::Json => smoke_json::render(io, workspace, results, exit),
        Format::Junit => junit::smoke(io, results),
        Format::Markdown => smoke_markdown::render(io, results),
    }
}

/// A judged run and what a reader may want to know beside it.
#[derive(Debug)]
pub(crate) struct Shown<'r> {
    pub command: &'static str,
    pub source: &'r Source,
    pub workspace: &'r Workspace,
    pub record: &'r RunRecord,
    /// What to type after a trial so that `show` finds it; absent where the run was not kept.
    pub kept_as: Option<String>,
    pub exit: Exit,
}

impl Shown<'_> {
    /// The command that shows one of the worst cases: as it was stored, or by running it again.
    fn command_for(&self, io: &Io, worst: &WorstCase) -> String {
        if let Some(run) = &self.kept_as {
            return format!("bardo-eval show {}{run}{}", worst.trial, io.workspace_flag());
        }
        let trial = self.record.plan.trials.iter().find(|trial| trial.id.as_str().starts_with(&worst.trial));
        let subject = trial.map(|trial| format!(" --subject {}", trial.subject)).unwrap_or_default();
        format!("bardo-eval run --case {}{subject}{}", worst.case, io.workspace_flag())
    }
}

pub(crate) fn run(io: &Io, shown: &Shown<'_>) -> String {
    match io.format {
        Format::Text => run_text::render(io, shown),
        Format::Json => format!("{:#}\n", run_json::document(io, shown)),
        Format::Junit => junit::run(io, shown),
        Format::Markdown => run_markdown::render(io, shown),
    }
}

pub(crate) fn plan(io: &Io, plan: &Plan) -> String {
    match io.format {
        Format::Json => {
            let trials = serde_json::to_value(&plan.trials).unwrap_or_default();
            format!(
                "{:#}\n",
                json!({ "format": FORMAT, "command": "run --dry-run", "workspace": plan.workspace, "trials": trials, "exit": 0 })
            )
        }
        Format::Text | Format::Junit | Format::Markdown => {
            let rows: Vec<Vec<String>> = plan
                .trials
                .iter()
                .map(|trial| vec![trial.id.short().to_owned(), trial.case.clone(), trial.subject.clone(), trial.seed.to_string()])
                .collect();
            format!("{}\n{} trials planned, nothing was run\n", table(&["trial", "case", "subject", "seed"], rows), plan.trials.len())
        }
    }
}

/// "1 error", "2 errors".
pub(crate) fn count(n: usize, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}
