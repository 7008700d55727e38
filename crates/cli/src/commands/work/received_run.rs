//! Published run as a worker receives it: settings and workspace from the store, keys and programs from this machine.

use super::work_stop::WorkStop;
use crate::args::WorkArgs;
use crate::commands::run::run_environment;
use crate::commands::world::imported_tools::{ServerAccess, parse_tool_answers};
use crate::files::{self, LockedFolder};
use crate::sandbox;
use crate::workspace_source::WorkspaceSource;
use campaign::{RunPlan, RunSpec, WorkerRun};
use model::{CaseTexts, UserError, Workspace};
use std::collections::BTreeMap;
use std::path::{Component, Path};
use std::sync::Arc;
use store::postgres::queue::{OpenQueue, QueueClient};
use store::{Store, StoreError};

const FOLDER_PREFIX: &str = "bardo-eval-work.";
/// Most files and bytes of a workspace that is received.
const MAX_FILES: usize = 20_000;
const MAX_BYTES: usize = 128 << 20;

/// Published run that this worker has received.
pub(super) struct ReceivedRun {
    pub(super) run: i64,
    pub(super) short_id: String,
    pub(super) worker: WorkerRun,
    /// Copy of the workspace, for recordings and files of agents. Removed with the run.
    _folder: Option<LockedFolder>,
}

impl ReceivedRun {
    /// Receives a run; nothing if it was removed meanwhile.
    ///
    /// # Errors
    /// If its workspace or settings cannot be used here, or are not those of the plan.
    pub(super) async fn receive(
        store: &Store,
        client: &QueueClient,
        queue: &OpenQueue,
        (own, args): (Option<&WorkspaceSource>, &WorkArgs),
    ) -> Result<Option<Self>, WorkStop> {
        let Some(stored) = store.run(queue.run)? else { return Ok(None) };
        let ReceivedWorkspace { workspace, source, folder } = match own {
            Some(own) => ReceivedWorkspace::local(own)?,
            None => ReceivedWorkspace::receive(client, queue)?,
        };
        let concurrency = usize::try_from(args.concurrency).unwrap_or(1);
        let unusable = |error: serde_json::Error| UserError::without_remedy(format!("run {} cannot be played: {error}", stored.short_id()));
        let spec = RunSpec::from_stored(&stored.settings, None, Some(concurrency)).map_err(unusable)?;
        let sandbox = sandbox::agent_sandbox(sandbox::stored_mode(spec.settings.sandbox.as_deref()), &source, &args.store.store)?;
        let environment = run_environment(&source, sandbox, &spec)?;
        let plan = RunPlan::resolve(spec, workspace)?;
        let (options, workspace) = (plan.spec().options.clone(), plan.workspace().clone());
        let answers = parse_tool_answers(&source, &workspace, &options.foreign_tools, ServerAccess::of(&options));
        let worker = WorkerRun::prepare(&stored, plan, &environment, answers).await?;
        Ok(Some(Self { run: queue.run, short_id: stored.short_run_id().to_owned(), worker, _folder: folder }))
    }
}

struct ReceivedWorkspace {
    workspace: Arc<Workspace>,
    source: WorkspaceSource,
    folder: Option<LockedFolder>,
}

impl ReceivedWorkspace {
    /// Opens the workspace that the user named. It must be that of the run.
    fn local(own: &WorkspaceSource) -> Result<Self, Vec<UserError>> {
        let workspace = own.open(CaseTexts::Dropped).map_err(|problems| problems.into_iter().map(UserError::from).collect::<Vec<_>>())?;
        Ok(Self { workspace: Arc::new(workspace), source: own.clone(), folder: None })
    }

    /// Reads the workspace from the store and writes it to a folder of its own.
    fn receive(client: &QueueClient, queue: &OpenQueue) -> Result<Self, WorkStop> {
        let index = queue.files.clone();
        let found = client.call_blocking(move |connection| connection.read_files(&index))?;
        check_files(&found)?;
        // Expected answers are in it: other users of the machine must not read them.
        let folder = LockedFolder::create(FOLDER_PREFIX).map_err(UserError::caused_by)?;
        let root = folder.path().join("evals");
        let texts = || found.iter().map(|(path, text)| (path.as_str(), text.as_str()));
        files::write_folder(&root, texts()).map_err(UserError::caused_by)?;
        let in_workspace = texts().filter(|(path, _)| !path.starts_with("cassettes/"));
        let loaded = Workspace::load_from(in_workspace.collect(), CaseTexts::Dropped);
        let mut workspace = loaded.map_err(|problems| problems.into_iter().map(UserError::from).collect::<Vec<_>>())?;
        attack::add_general_probes(&mut workspace);
        Ok(Self { workspace: Arc::new(workspace), source: WorkspaceSource::Folder(root), folder: Some(folder) })
    }
}

/// Refuses files that would be written outside of their folder, and more than a workspace has.
fn check_files(found: &BTreeMap<String, String>) -> Result<(), StoreError> {
    let bytes: usize = found.values().map(String::len).sum();
    if found.len() > MAX_FILES || bytes > MAX_BYTES {
        return Err(StoreError::Journal(format!(
            "the workspace in the store has {} files and {bytes} bytes, more than the limits",
            found.len()
        )));
    }
    match found.keys().find(|path| !is_inside(path)) {
        Some(path) => Err(StoreError::Journal(format!("the workspace in the store has the path {path:?}, which leads out of it"))),
        None => Ok(()),
    }
}

fn is_inside(path: &str) -> bool {
    let only_names = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
    only_names && !path.is_empty() && !path.contains(['\\', '\0'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_lead_out_of_the_folder_are_refused() {
        for path in ["../evil", "/etc/passwd", "tools/../../evil", "", "a\\..\\b", "./tools"] {
            assert!(!is_inside(path), "{path}");
        }
        assert!(is_inside("tools/a.yaml") && is_inside("gates.yaml"));
    }
}
