//! `run --workers 0`: publishes the run with its workspace, and takes a published run back into this process.

use super::outcome::RunStop;
use crate::args::RunArgs;
use crate::files;
use crate::io::CliOutput;
use crate::workspace_source::WorkspaceSource;
use campaign::{
    PreparedRun, PublishedRun, RunEnvironment, RunHandle, RunOrigin, RunPlan, WorkspaceFile, prepare_for_watch, uses_recordings,
};
use model::{Problem, Tool, UserError};
use store::StoreLocation;
use store::postgres::PgTarget;
use store::postgres::queue::QueueClient;

/// Version of the program. The watcher and the workers of a run have the same.
pub(in crate::commands) const PROGRAM: &str = env!("CARGO_PKG_VERSION");

fn target(args: &RunArgs) -> Result<&PgTarget, UserError> {
    match &args.store.store {
        StoreLocation::Postgres(target) => Ok(target),
        StoreLocation::File(path) => {
            let what = format!("--workers needs a store that machines can share, and {} is a file", path.display());
            Err(UserError::new(what, "name a PostgreSQL database, such as --store postgres://USER@HOST/DATABASE"))
        }
    }
}

/// Prepares a run that workers play. Needs no key and no program of an agent.
pub(super) fn prepare_watch(args: &RunArgs, plan: RunPlan, environment: &RunEnvironment) -> Result<PreparedRun, RunStop> {
    target(args)?;
    if plan.spec().options.foreign_tools.iter().any(|from| from.starts_with("record:")) {
        let remedy = "record first in one process, then run with --imported-tools recorded";
        return Err(UserError::new("workers cannot record the answers of imported tools", remedy).into());
    }
    Ok(prepare_for_watch(plan, environment)?)
}

/// Publishes a run with the files of its workspace.
pub(super) async fn publish(
    io: &CliOutput,
    source: &WorkspaceSource,
    args: &RunArgs,
    (prepared, handle): (&PreparedRun, &RunHandle),
) -> Result<PublishedRun, RunStop> {
    let client = QueueClient::open(target(args)?)?;
    let files =
        workspace_files(source, prepared.plan()).map_err(|problems| problems.into_iter().map(UserError::from).collect::<Vec<_>>())?;
    let published = PublishedRun::publish(client, prepared, handle, PROGRAM, files).await?;
    let trials = model::count(prepared.plan().outline().len() - handle.ended_before(), "trial");
    io.print_message(&format!("run {} is open to workers with {trials}: bardo-eval work{}", handle.short_id(), args.store.store_flag()));
    Ok(published)
}

/// Takes a run back from workers before this process plays it. Their leases end, and their calls in flight are charged.
pub(super) fn take_over(args: &RunArgs, origin: &RunOrigin) -> Result<(), RunStop> {
    let (RunOrigin::Resumed(locked), StoreLocation::Postgres(target)) = (origin, &args.store.store) else { return Ok(()) };
    Ok(PublishedRun::close(&QueueClient::open(target)?, locked.run().run)?)
}

/// Returns the files that a worker needs: the workspace, and its recordings if the run replays them.
fn workspace_files(source: &WorkspaceSource, plan: &RunPlan) -> Result<Vec<WorkspaceFile>, Vec<Problem>> {
    let file = |(path, text): (&str, &str)| WorkspaceFile { path: path.to_owned(), text: text.to_owned() };
    let mut found: Vec<WorkspaceFile> = source.files()?.iter().map(file).collect();
    let needs_recordings = uses_recordings(plan) || plan.workspace().tools.iter().any(Tool::is_foreign);
    if let (true, WorkspaceSource::Folder(folder)) = (needs_recordings, source) {
        let recordings = folder.join("cassettes");
        if files::is_folder(&recordings) {
            let inside = |(path, text): (&str, &str)| WorkspaceFile { path: format!("cassettes/{path}"), text: text.to_owned() };
            found.extend(files::read_folder(&recordings)?.iter().map(inside));
        }
    }
    Ok(found)
}
