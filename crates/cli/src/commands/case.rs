//! A case drafted from a stored trial, checked as if it already stood in the workspace.

use super::chat::ChatScenario;
use crate::args::{CaseCommand, CaseNewArgs};
use crate::exit::ExitKind;
use crate::io::CliOutput;
use crate::report;
use crate::stored_runs;
use crate::workspace_source::WorkspaceSource;
use ::score::checks::FindingLevel;
use campaign::{CaseDraft, draft_case};
use model::{UserError, Workspace, WorkspaceFiles, yaml};

pub(crate) fn case(io: &CliOutput, source: &WorkspaceSource, command: &CaseCommand) -> ExitKind {
    match command {
        CaseCommand::New(args) => new_case(io, source, args),
    }
}

fn new_case(io: &CliOutput, source: &WorkspaceSource, args: &CaseNewArgs) -> ExitKind {
    let (files, workspace) = match source.files().and_then(|files| Workspace::load(&files).map(|workspace| (files, workspace))) {
        Ok(opened) => opened,
        Err(problems) => return report::print_problems(io, "case new", &problems),
    };
    super::print_load_warnings(io, &workspace);
    let drafted = match draft_from_trial(&workspace, args) {
        Ok(drafted) => drafted,
        Err(why) => return report::print_refusal(io, "case new", &[why]),
    };
    let path = format!("suites/{}/{}.yaml", drafted.kind.word(), drafted.id);
    let text = format!(
        "# Drafted from trial {}. It expects what happened; make it expect what should have happened.\n{}",
        args.from,
        yaml::emit(&drafted.suite)
    );
    let doubts = draft_errors(files, &path, &text);
    for doubt in &doubts {
        io.print_message(&doubt.to_string());
    }
    if doubts.is_empty() {
        io.print_message(&format!("smoke accepts it as {path} of the workspace"));
    }
    io.print_result(&text, if doubts.is_empty() { ExitKind::Clean } else { ExitKind::Missed })
}

fn draft_from_trial(workspace: &Workspace, args: &CaseNewArgs) -> Result<CaseDraft, UserError> {
    let (run, trial) = args
        .from
        .split_once('/')
        .ok_or_else(|| UserError::without_remedy("a trial is written RUN/TRIAL, by the beginnings of their ids"))?;
    let run = stored_runs::load_run(&args.store.store, Some(run))?;
    let found = run.find_trial(trial)?;
    let seat = ChatScenario::from_name(workspace, &found.transcript.case)?;
    Ok(draft_case(workspace, &seat.brief, found.transcript, args.id.as_deref())?)
}

/// What smoke would say about the draft, and about nothing else.
fn draft_errors(mut files: WorkspaceFiles, path: &str, text: &str) -> Vec<UserError> {
    files.insert(path, text);
    let workspace = match Workspace::load(&files) {
        Ok(workspace) => workspace,
        Err(problems) => return problems.into_iter().map(UserError::from).collect(),
    };
    let results = ::score::checks::run_all(&workspace, 1);
    let findings = results.into_iter().flat_map(|result| result.findings);
    let own = findings.filter(|finding| finding.level == FindingLevel::Error && &*finding.at.file == path);
    own.map(UserError::from).collect()
}
