//! `store copy`: copies runs from one store to another and verifies them by hash.

use crate::args::{ReportFormat, StoreCommand, StoreCopyArgs};
use crate::exit::ExitKind;
use crate::files;
use crate::io::CliOutput;
use crate::report::{self, FORMAT, table};
use crate::stored_runs;
use campaign::open_store;
use model::UserError;
use serde_json::{Value, json};
use store::{CopiedRows, RunCopy, StoreLocation, StoredRun};

pub(crate) fn store(io: &CliOutput, command: &StoreCommand) -> ExitKind {
    match command {
        StoreCommand::Copy(args) => {
            let copied = copy(io, args);
            copied.map_or_else(|why| report::print_refusal(io, "store copy", &[why]), |text| io.print_result(&text, ExitKind::Clean))
        }
    }
}

fn copy(io: &CliOutput, args: &StoreCopyArgs) -> Result<String, UserError> {
    if args.from == args.to {
        return Err(UserError::new("both stores are the same", "name another one to copy to"));
    }
    let runs = wanted_runs(&args.from, &args.runs)?;
    let (from, _) = stored_runs::find_run(&args.from, None)?;
    if args.to.file().is_some() {
        files::create_folder(&args.to.folder()).map_err(UserError::caused_by)?;
    }
    let to = open_store(&args.to)?;
    let mut copies = vec![];
    // Oldest first, so that the copies are listed in the same order.
    for run in runs.iter().rev() {
        copies.push((run, from.copy_run(run, &to)?));
    }
    Ok(match io.format {
        ReportFormat::Json => {
            let items: Vec<Value> = copies.iter().map(|(run, copy)| document(run, *copy)).collect();
            format!("{:#}\n", json!({ "format": FORMAT, "command": "store copy", "items": items, "exit": 0 }))
        }
        ReportFormat::Text | ReportFormat::Junit | ReportFormat::Markdown | ReportFormat::Github | ReportFormat::Sarif => {
            let rows = copies.iter().map(|(run, copy)| {
                let (word, rows) = result_of(*copy);
                let record = run.record.as_ref().map_or("unfinished", |record| record.short());
                vec![run.short_run_id().to_owned(), rows.trials.to_string(), rows.calls.to_string(), record.to_owned(), word.to_owned()]
            });
            format!("{}\n", table(&["run", "trials", "calls", "record", "result"], rows.collect()))
        }
    })
}

/// Returns the runs that were named, or all, the last one first.
fn wanted_runs(from: &StoreLocation, wanted: &[String]) -> Result<Vec<StoredRun>, UserError> {
    if wanted.is_empty() {
        return stored_runs::list_runs(from);
    }
    let mut runs =
        wanted.iter().map(|wanted| stored_runs::find_only_run(from, wanted).map(|(_, run)| run)).collect::<Result<Vec<_>, _>>()?;
    runs.sort_unstable_by_key(|run| std::cmp::Reverse(run.run));
    runs.dedup_by_key(|run| run.run);
    Ok(runs)
}

fn result_of(copy: RunCopy) -> (&'static str, CopiedRows) {
    match copy {
        RunCopy::Copied(rows) => ("copied", rows),
        RunCopy::AlreadyThere(rows) => ("already there", rows),
    }
}

fn document(run: &StoredRun, copy: RunCopy) -> Value {
    let (word, rows) = result_of(copy);
    json!({ "run": run.id, "record": run.record, "trials": rows.trials, "calls": rows.calls, "result": word })
}
