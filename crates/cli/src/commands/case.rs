//! `case new`: drafts a case from a stored trial or a production trace and runs the smoke checks on it.

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
    let drafted = match draft(&workspace, args) {
        Ok(drafted) => drafted,
        Err(why) => return report::print_refusal(io, "case new", &[why]),
    };
    let path = format!("suites/{}/{}.yaml", drafted.kind.word(), drafted.id);
    let to_fill_in: String = drafted.to_fill_in.iter().map(|part| format!("# To fill in: {part}\n")).collect();
    let text = format!(
        "# Drafted from {}. It expects what happened; edit it to expect what should happen.\n# A draft authorises nothing: if the user allowed to spend, say how much under `intent:`.\n{to_fill_in}{}",
        drafted_from(args),
        yaml::emit(&drafted.suite)
    );
    for part in &drafted.to_fill_in {
        io.print_message(&format!("to fill in before the reference can pass: {part}"));
    }
    let errors = draft_errors(files, &path, &text);
    for error in &errors {
        io.print_message(&error.to_string());
    }
    if errors.is_empty() {
        io.print_message(&format!("smoke accepts it as {path} in the workspace"));
    }
    io.print_result(&text, if errors.is_empty() { ExitKind::Clean } else { ExitKind::Missed })
}

fn drafted_from(args: &CaseNewArgs) -> String {
    match (&args.from, &args.trace) {
        (Some(from), _) => format!("trial {from}"),
        (None, trace) => format!("production trace {}", trace.as_deref().unwrap_or_default()),
    }
}

fn draft(workspace: &Workspace, args: &CaseNewArgs) -> Result<CaseDraft, UserError> {
    if let Some(trace) = &args.trace {
        let store = super::watch::open_traces(&args.traces)?;
        let id = super::watch::parse_trace_id(trace)?;
        let remedy = "`bardo-eval watch --once --format json` lists traces; those outside the sample are not kept";
        let kept = store.kept_trace(&id)?.ok_or_else(|| UserError::new(format!("there is no kept trace {trace}"), remedy))?;
        return campaign::draft_from_trace(workspace, &kept, args.id.as_deref());
    }
    draft_from_trial(workspace, args.from.as_deref().unwrap_or_default(), args)
}

fn draft_from_trial(workspace: &Workspace, from: &str, args: &CaseNewArgs) -> Result<CaseDraft, UserError> {
    let (run, trial) =
        from.split_once('/').ok_or_else(|| UserError::without_remedy("--from expects RUN/TRIAL, each as an id or id prefix"))?;
    let run = stored_runs::open_run(&args.store.store, Some(run))?;
    let found = run.find_trial(trial)?;
    let scenario = ChatScenario::from_name(workspace, &found.transcript.case)?;
    Ok(draft_case(workspace, &scenario.brief, &found.transcript, args.id.as_deref())?)
}

/// Returns the errors that smoke would report in the draft itself.
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
