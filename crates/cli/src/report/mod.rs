//! What a person or a machine reads. Every report takes finished data; none can reach what made it.

mod junit;
mod problems;
mod run_json;
mod run_markdown;
mod run_text;
mod smoke_json;
mod smoke_markdown;
mod smoke_text;
mod table;

pub(crate) use problems::{problems, refused};
pub(crate) use table::table;

use crate::args::Format;
use crate::exit::Exit;
use crate::io::Io;
use crate::open::Source;
use model::{Plan, RunRecord, Workspace};
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

pub(crate) fn run(io: &Io, source: &Source, workspace: &Workspace, record: &RunRecord, exit: Exit) -> String {
    match io.format {
        Format::Text => run_text::render(io, source, record),
        Format::Json => run_json::render(record, exit),
        Format::Junit => junit::run(io, workspace, record),
        Format::Markdown => run_markdown::render(record),
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
