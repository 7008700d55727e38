//! What happened in a stored trial, or in two of them side by side.

use crate::args::ShowArgs;
use crate::exit::Exit;
use crate::io::Io;
use crate::kept::{self, Found};
use crate::open::Source;
use crate::report;
use model::{UserError, Workspace};

pub(crate) fn show(io: &Io, source: &Source, args: &ShowArgs) -> Exit {
    let workspace = match super::open(io, source, "show") {
        Ok(workspace) => workspace,
        Err(exit) => return exit,
    };
    let text = match (args.diff.as_deref(), args.what.as_deref()) {
        (Some([left, right]), Some(case)) => across(io, &workspace, args, case, (left, right)),
        (Some([left, right]), None) => within(io, &workspace, args, (left, right)),
        (Some(_) | None, what) => one(io, &workspace, args, what.unwrap_or_default()),
    };
    text.map_or_else(|why| report::refused(io, "show", &[why]), |text| io.result(&text, Exit::Clean))
}

fn one(io: &Io, workspace: &Workspace, args: &ShowArgs, what: &str) -> Result<String, UserError> {
    let run = kept::run(&args.store.store, args.run.as_deref())?;
    let trials = run.trials(what)?;
    let others: Vec<String> = trials[1..].iter().map(|trial| trial.transcript.trial.short().to_owned()).collect();
    Ok(report::show(io, workspace, &trials[0], &others))
}

/// One case in two runs.
fn across(io: &Io, workspace: &Workspace, args: &ShowArgs, case: &str, runs: (&str, &str)) -> Result<String, UserError> {
    let open = |run: &str| kept::run(&args.store.store, Some(run));
    let (left, right) = (open(runs.0)?, open(runs.1)?);
    Ok(report::diff(io, workspace, &left.trial(case)?, &right.trial(case)?))
}

/// Two trials of one run. A case by name stands for its trials in order, so that one case twice is its first two trials.
fn within(io: &Io, workspace: &Workspace, args: &ShowArgs, trials: (&str, &str)) -> Result<String, UserError> {
    let run = kept::run(&args.store.store, args.run.as_deref())?;
    let left = run.trial(trials.0)?;
    let others = run.trials(trials.1)?;
    let is_other = |trial: &&Found<'_>| trials.0 != trials.1 || trial.transcript.trial != left.transcript.trial;
    let right = others.iter().find(is_other).ok_or_else(|| UserError::plain(format!("run {} has {} only once", run.short(), trials.1)))?;
    Ok(report::diff(io, workspace, &left, right))
}
