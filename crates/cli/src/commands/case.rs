//! `case new`: drafts a case from a stored trial or a production trace and runs the smoke checks on it.

use super::chat::ChatScenario;
use crate::args::{CaseCommand, CaseNewArgs};
use crate::exit::ExitKind;
use crate::io::CliOutput;
use crate::workspace_source::WorkspaceSource;
use crate::{env, files, report, stored_runs};
use ::score::checks::{CheckFinding, FindingLevel};
use campaign::{CaseDraft, draft_case};
use model::{UserError, Workspace, WorkspaceFiles, yaml};
use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};

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
    let path = match draft_path(source, io.output_file(), &drafted) {
        Ok(path) => path,
        Err(why) => return report::print_refusal(io, "case new", &[why]),
    };
    let to_fill_in: String = drafted.to_fill_in.iter().map(|part| format!("# To fill in: {part}\n")).collect();
    let text = format!(
        "# Drafted from {}. It expects what happened; edit it to expect what should happen.\n# A draft authorises nothing: if the user allowed to spend, say how much under `intent:`.\n{to_fill_in}{}",
        drafted_from(args),
        yaml::emit(&drafted.suite)
    );
    for part in &drafted.to_fill_in {
        io.print_message(&format!("to fill in before the reference can pass: {part}"));
    }
    let errors = draft_errors(files, &workspace, &path, &text);
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

/// Returns the path of the draft in the workspace: that of the output if it is there, else one by its id.
///
/// # Errors
/// If the output is in the folder of another kind of suite: the workspace could not be loaded any more.
fn draft_path(source: &WorkspaceSource, output: Option<&Path>, drafted: &CaseDraft) -> Result<String, UserError> {
    let kind = drafted.kind.word();
    let Some(inside) = output.and_then(|output| path_in_suites(source, output)) else {
        return Ok(format!("suites/{kind}/{}.yaml", drafted.id));
    };
    if inside.parent().and_then(|folder| folder.components().next()) == Some(Component::Normal(kind.as_ref())) {
        return Ok(format!("suites/{}", inside.display()));
    }
    let what = format!("the draft is a case of {kind}, and {} is not in the folder of these suites", output.unwrap_or(&inside).display());
    Err(UserError::new(what, format!("write it to suites/{kind}/")))
}

/// Returns the path of a file below the suites of the workspace; `None` if it is elsewhere.
fn path_in_suites(source: &WorkspaceSource, output: &Path) -> Option<PathBuf> {
    let suites = source.absolute_folder()?.join("suites");
    let file = env::current_dir().join(output);
    let resolved = files::resolved(file.parent()?).join(file.file_name()?);
    let inside = resolved.strip_prefix(files::resolved(&suites)).or_else(|_| file.strip_prefix(&suites));
    inside.ok().map(Path::to_owned)
}

/// Returns the errors that smoke would report with the draft only, at the draft or at a case that it does not differ from.
fn draft_errors(mut files: WorkspaceFiles, before: &Workspace, path: &str, text: &str) -> Vec<UserError> {
    files.insert(path, text);
    let workspace = match Workspace::load(&files) {
        Ok(workspace) => workspace,
        Err(problems) => return problems.into_iter().map(UserError::from).collect(),
    };
    let known: HashSet<FindingKey> = errors_of(before).iter().map(key).collect();
    errors_of(&workspace).into_iter().filter(|finding| !known.contains(&key(finding))).map(UserError::from).collect()
}

/// Check, file and text of a finding: lines of a file that the draft replaces may move.
type FindingKey = (&'static str, String, String);

fn key(finding: &CheckFinding) -> FindingKey {
    (finding.check, finding.at.file.to_string(), finding.what.clone())
}

/// Check that counts cases: one more cannot be wrong by their number.
const COUNTING_CHECK: &str = "coverage_minimums";

fn errors_of(workspace: &Workspace) -> Vec<CheckFinding> {
    let findings = ::score::checks::run_all(workspace, 1).into_iter().flat_map(|result| result.findings);
    findings.filter(|finding| finding.level == FindingLevel::Error && finding.check != COUNTING_CHECK).collect()
}
