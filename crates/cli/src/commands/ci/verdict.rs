//! `ci verdict`: decides whether a CI job passes, from the exit code and the JSON report of its run.

use crate::args::{CiVerdictArgs, ReportFormat};
use crate::exit::ExitKind;
use crate::files;
use crate::io::CliOutput;
use crate::report::{FORMAT, escape_control};
use crate::workspace_source::WorkspaceSource;
use campaign::{FinishedRun, JobVerdict, ReportedRun, parse_job_report};
use model::Workspace;
use serde_json::{Value, json};

const COMMAND: &str = "ci verdict";

pub(super) fn verdict(io: &CliOutput, source: &WorkspaceSource, args: &CiVerdictArgs) -> ExitKind {
    let workspace = match super::super::open_workspace(io, source, COMMAND) {
        Ok(workspace) => workspace,
        Err(exit) => return exit,
    };
    let run = FinishedRun { exit: args.exit, report: read_report(&workspace, args), without_judge: args.without_judge };
    let job = JobVerdict::new(&workspace, &run);
    let exit = match args.exit {
        1 => ExitKind::Missed,
        2 => ExitKind::Usage,
        _ if job.passes() => ExitKind::Clean,
        _ => ExitKind::Incomplete,
    };
    let result = match io.format {
        ReportFormat::Json => format!("{:#}\n", document(&job, args.exit, exit)),
        ReportFormat::Text | ReportFormat::Junit | ReportFormat::Markdown | ReportFormat::Github | ReportFormat::Sarif => text(&job, exit),
    };
    io.print_result(&result, exit)
}

fn read_report(workspace: &Workspace, args: &CiVerdictArgs) -> Result<Value, String> {
    let path = args.report.display();
    let text = files::read_file(&args.report).map_err(|error| format!("the run wrote no report: {path}: {error}"))?;
    let run = ReportedRun { exit: args.exit, workspace: &workspace.hash, tier: args.tier };
    parse_job_report(&text, &run).map_err(|why| format!("{path} {why}"))
}

fn text(job: &JobVerdict, exit: ExitKind) -> String {
    let mut text = String::new();
    for why in &job.blocking {
        text.push_str(&format!("- {}\n", escape_control(why)));
    }
    for (gate, why) in &job.undecided {
        text.push_str(&format!("- undecided, not passed: {} ({why})\n", escape_control(gate)));
    }
    let result = match exit {
        ExitKind::Clean if job.undecided.is_empty() => "job passes: every gate is met".to_owned(),
        ExitKind::Clean => format!("job passes: no gate is missed, {} undecided", job.undecided.len()),
        ExitKind::Missed | ExitKind::Usage | ExitKind::Incomplete => "job fails".to_owned(),
    };
    format!("{text}{result}\n")
}

fn document(job: &JobVerdict, run_exit: u8, exit: ExitKind) -> Value {
    json!({ "format": FORMAT, "command": COMMAND, "run_exit": run_exit, "undecided": job.undecided, "blocking": job.blocking, "exit": exit.code() })
}
