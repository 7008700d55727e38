//! `show`: a stored trial event by event, or two trials compared.

use crate::args::ShowArgs;
use crate::exit::ExitKind;
use crate::io::CliOutput;
use crate::report;
use crate::stored_runs::{self, OpenedRun};
use crate::workspace_source::WorkspaceSource;
use campaign::stored_run_workspace;
use model::{UserError, Workspace};

pub(crate) fn show(io: &CliOutput, source: &WorkspaceSource, args: &ShowArgs) -> ExitKind {
    let workspace = match super::open_workspace(io, source, "show") {
        Ok(workspace) => workspace,
        Err(exit) => return exit,
    };
    let text = match (args.diff.as_deref(), args.what.as_deref()) {
        (Some([left, right]), Some(case)) => diff_case_in_runs(io, &workspace, args, case, (left, right)),
        (Some([left, right]), None) => diff_trials_of_run(io, &workspace, args, (left, right)),
        (Some(_) | None, what) => show_trial(io, workspace, args, what.unwrap_or_default()),
    };
    text.map_or_else(|why| report::print_refusal(io, "show", &[why]), |text| io.print_result(&text, ExitKind::Clean))
}

fn show_trial(io: &CliOutput, workspace: Workspace, args: &ShowArgs, what: &str) -> Result<String, UserError> {
    let run = stored_runs::open_run(&args.store.store, args.run.as_deref())?;
    let found = run.find_trials(what)?;
    let workspace = stored_run_workspace(workspace, &run.run);
    Ok(report::show(io, &workspace, &run.read_first(&found)?, &found.other_ids()))
}

/// Compares one case in two runs.
fn diff_case_in_runs(io: &CliOutput, workspace: &Workspace, args: &ShowArgs, case: &str, runs: (&str, &str)) -> Result<String, UserError> {
    let open = |run: &str| stored_runs::open_run(&args.store.store, Some(run));
    let (left, right) = (open(runs.0)?, open(runs.1)?);
    let versions = [&left, &right].map(OpenedRun::workspace_version);
    if versions[0] != versions[1] {
        let shown = versions.map(|version| version.map_or_else(|| "no version".to_owned(), |version| format!("version {version}")));
        io.print_message(&format!("the runs are of {} and {} of the workspace: their scores do not measure the same", shown[0], shown[1]));
    }
    Ok(report::diff(io, workspace, &left.find_trial(case)?, &right.find_trial(case)?))
}

/// Compares two trials of one run. The same case given twice means its first two trials.
fn diff_trials_of_run(io: &CliOutput, workspace: &Workspace, args: &ShowArgs, trials: (&str, &str)) -> Result<String, UserError> {
    let run = stored_runs::open_run(&args.store.store, args.run.as_deref())?;
    let left = run.find_trial(trials.0)?;
    let others = run.find_trials(trials.1)?;
    let right =
        if trials.0 == trials.1 { run.read_first_other_than(&others, &left.transcript.trial)? } else { Some(run.read_first(&others)?) };
    let right = right.ok_or_else(|| UserError::without_remedy(format!("run {} has only one trial of {}", run.short_id(), trials.1)))?;
    Ok(report::diff(io, workspace, &left, &right))
}
