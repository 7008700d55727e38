//! From files to verdicts.

mod failed;
mod outcome;
mod progress;
mod start;

use super::world::foreign;
use crate::args::{RunArgs, SmokeArgs};
use crate::exit::Exit;
use crate::io::Io;
use crate::open::Source;
use crate::report;
use campaign::{RunHandle, RunPlan, prepare};
use model::Workspace;
use outcome::{ExecutedRun, RunStop, deliver};
use progress::execute_watched;
use start::{RunStart, environment};
use std::sync::Arc;

/// The tier that runs nothing.
const SMOKE: u64 = 1;

pub(crate) fn run(io: &Io, source: &Source, args: &RunArgs) -> Exit {
    if args.tier == Some(SMOKE) && args.resume.is_none() {
        return super::smoke(io, source, &SmokeArgs { seed: args.seed });
    }
    match super::open_to_judge(io, source, "run") {
        Ok(workspace) => evaluate(io, source, args, &Arc::new(workspace)).unwrap_or_else(|stop| stop.report(io)),
        Err(exit) => exit,
    }
}

fn evaluate(io: &Io, source: &Source, args: &RunArgs, workspace: &Arc<Workspace>) -> Result<Exit, RunStop> {
    let RunStart { spec, origin } = RunStart::of(args, workspace)?;
    let plan = RunPlan::of(spec, workspace.clone())?;
    if plan.is_empty() {
        return Err(RunStop::Empty);
    }
    if args.dry_run {
        return Ok(io.result(&report::plan(io, &plan, &plan.forecast()), Exit::Clean));
    }
    super::block_on(async {
        let prepared = prepare(plan, &environment(source), foreign::of(source, workspace, &args.foreign.foreign)).await?;
        let handle = RunHandle::open(origin, &prepared)?;
        let summary = execute_watched(io, args, &prepared, &handle).await?;
        Ok(deliver(io, source, args, &ExecutedRun { prepared: &prepared, handle: &handle, summary: &summary }))
    })?
}
