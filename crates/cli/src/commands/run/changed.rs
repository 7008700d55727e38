//! Cases that a change of the workspace concerns, for `run --changed`.

use super::fingerprints::{current_fingerprint, load_fingerprint};
use super::start::judge_request;
use crate::args::RunArgs;
use crate::commands::compare::NamedSide;
use crate::workspace_source::WorkspaceSource;
use crate::{git, stored_runs};
use campaign::{JudgeRequest, are_subjects_built_in, golden_changes};
use model::{ContentHash, SubjectFile, UserError, Workspace};
use score::workspace_changes::{ChangeReach, ChangedSelection, WorkspaceFingerprint, select_changed};

/// Earlier state of the workspace.
enum ChangeBase<'a> {
    Golden(&'a NamedSide),
    Workspace(ContentHash),
    Revision(&'a str),
}

/// Returns the cases that the changes since the base concern; `None` without `--changed`.
pub(super) fn changed_selection(
    args: &RunArgs,
    source: &WorkspaceSource,
    workspace: &Workspace,
    against: Option<&NamedSide>,
) -> Result<Option<ChangedSelection>, Vec<UserError>> {
    let Some(named) = &args.changed else { return Ok(None) };
    let golden = if named.as_deref() == Some("golden") { Some(NamedSide::open(source, &args.store.store, Some("golden"))?) } else { None };
    let now = current_fingerprint(source, workspace)?;
    let (changes, before) = match change_base(args, named.as_deref(), golden.as_ref(), against) {
        ChangeBase::Golden(side) => {
            let subject = golden_subject(args, workspace, side).map_err(|why| vec![why])?;
            let golden = side.golden().map(|golden| golden_changes(workspace, golden, subject));
            (golden.unwrap_or_default(), None)
        }
        ChangeBase::Workspace(hash) => since(&now, load_fingerprint(&args.store.store, &hash).map_err(|why| vec![why])?),
        ChangeBase::Revision(revision) => since(&now, fingerprint_at(source, revision).map_err(|why| vec![why])?),
    };
    let reach = if is_free(args, source, workspace) { ChangeReach::Shown } else { ChangeReach::Expected };
    Ok(Some(select_changed(workspace, changes, &now, before.as_ref(), reach)))
}

/// Returns whether further trials cost nothing: the subjects are built in, and no model judges or plays the user.
fn is_free(args: &RunArgs, source: &WorkspaceSource, workspace: &Workspace) -> bool {
    are_subjects_built_in(workspace, &args.subject) && args.user.is_none() && judge_request(args, source, workspace) == JudgeRequest::Off
}

fn since(
    now: &WorkspaceFingerprint,
    before: WorkspaceFingerprint,
) -> (score::workspace_changes::WorkspaceChanges, Option<WorkspaceFingerprint>) {
    (now.changes_since(&before), Some(before))
}

fn change_base<'a>(
    args: &RunArgs,
    named: Option<&'a str>,
    golden: Option<&'a NamedSide>,
    against: Option<&'a NamedSide>,
) -> ChangeBase<'a> {
    if let Some(golden) = golden.or_else(|| against.filter(|side| named.is_none() && side.golden().is_some())) {
        return ChangeBase::Golden(golden);
    }
    match (named, against.and_then(NamedSide::stored_run)) {
        (Some(name), _) => match stored_runs::find_run(&args.store.store, Some(name)) {
            Ok((_, run)) => ChangeBase::Workspace(run.workspace),
            Err(_) => ChangeBase::Revision(name),
        },
        (None, Some(run)) => ChangeBase::Workspace(run.workspace.clone()),
        (None, None) => ChangeBase::Revision("HEAD"),
    }
}

/// Returns the subject whose baselines tell what changed: the one that is run, else the only one.
fn golden_subject<'w>(args: &RunArgs, workspace: &'w Workspace, side: &NamedSide) -> Result<&'w SubjectFile, UserError> {
    let subjects = side.choice().subjects;
    let chosen = args.subject.iter().find(|name| subjects.contains(name)).or(subjects.first());
    let absent = || UserError::new("the baselines are of a subject that the workspace no longer has", "name a git revision or a run");
    chosen.and_then(|name| workspace.subject(name)).ok_or_else(absent)
}

fn fingerprint_at(source: &WorkspaceSource, revision: &str) -> Result<WorkspaceFingerprint, UserError> {
    let WorkspaceSource::Folder(folder) = source else {
        return Err(UserError::new("the embedded workspace does not change", "name a folder with --workspace, or a run"));
    };
    let files = git::files_at(folder, revision)?;
    let broken = |problems: Vec<model::Problem>| {
        let what = format!("the workspace at \"{revision}\" has {}", model::count(problems.len(), "mistake"));
        UserError::new(what, "name a revision whose workspace is valid")
    };
    Ok(WorkspaceFingerprint::of(&Workspace::load(&files).map_err(broken)?, &files))
}
