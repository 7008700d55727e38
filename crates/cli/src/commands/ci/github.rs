//! `ci github`: writes a GitHub Actions workflow that runs the tiers of each event.

use crate::args::CiGithubArgs;
use crate::exit::ExitKind;
use crate::files;
use crate::io::CliOutput;
use crate::report;
use crate::workspace_source::WorkspaceSource;
use model::{SubjectFile, UserError, Workspace};
use std::collections::BTreeSet;
use std::path::Path;

const WORKFLOW: &str = include_str!("workflow.yml");
const WORKFLOW_PATH: &str = ".github/workflows/bardo-eval.yml";

/// Returns the judges that the tiers name, each once.
fn judges(workspace: &Workspace) -> Vec<&SubjectFile> {
    let names: BTreeSet<&str> = workspace.tiers.tiers.iter().filter_map(|tier| tier.judge.as_ref()).map(|judge| judge.as_str()).collect();
    names.into_iter().filter_map(|name| workspace.subject(name)).collect()
}

fn judge_note(judges: &[&SubjectFile]) -> String {
    let named: Vec<String> = judges
        .iter()
        .map(|judge| match &judge.key_env {
            Some(key) => format!("{}, asked if the secret {key} is set, else from its recordings.", judge.name.value),
            None => format!("{}.", judge.name.value),
        })
        .collect();
    if named.is_empty() { "none; name one in tiers.yaml.".to_owned() } else { named.join(" ") }
}

/// Returns the largest budget of a tier: recording replaces a night's run of all cases.
fn recording_budget(workspace: &Workspace) -> String {
    workspace.tiers.tiers.iter().map(|tier| tier.budget_usd).fold(0.0, f64::max).to_string()
}

pub(super) fn github(io: &CliOutput, source: &WorkspaceSource, args: &CiGithubArgs) -> ExitKind {
    let workspace = match super::super::open_workspace(io, source, "ci github") {
        Ok(workspace) => workspace,
        Err(exit) => return exit,
    };
    let Some(subject) = workspace.subject(&args.subject) else {
        let known = workspace.subjects.iter().map(|subject| subject.name.as_str());
        return report::print_refusal(io, "ci github", &[UserError::unknown("subject", &args.subject, known)]);
    };
    if [&args.branch, &args.install].iter().any(|text| text.contains(['\n', '\r'])) {
        return report::print_refusal(io, "ci github", &[UserError::without_remedy("--branch and --install must each be a single line")]);
    }
    let judges = judges(&workspace);
    let keys: BTreeSet<&str> = judges.iter().copied().chain([subject]).filter_map(|file| file.key_env.as_deref()).collect();
    let keys: String = keys.iter().map(|name| format!("\n  {name}: ${{{{ secrets.{name} }}}}")).collect();
    let folder = match source {
        WorkspaceSource::Embedded => "evals".to_owned(),
        WorkspaceSource::Folder(folder) => folder.display().to_string(),
    };
    let root = match source {
        WorkspaceSource::Embedded => " --embedded".to_owned(),
        WorkspaceSource::Folder(folder) if folder == Path::new("evals") => String::new(),
        WorkspaceSource::Folder(folder) => format!(" --workspace '{}'", folder.display()),
    };
    let text = WORKFLOW
        .replace("@SUBJECT@", &args.subject)
        .replace("@BRANCH@", &args.branch)
        .replace("@INSTALL@", &args.install)
        .replace("@KEY@", &keys)
        .replace("@JUDGE@", &judge_note(&judges))
        .replace("@CASSETTES@", &format!("{folder}/cassettes"))
        .replace("@RECORDING_BUDGET@", &recording_budget(&workspace))
        .replace("@WORKSPACE@", &root);
    if args.print {
        return io.print_result(&text, ExitKind::Clean);
    }
    let path = Path::new(WORKFLOW_PATH);
    if files::exists(path) && !args.force {
        let why = UserError::new(format!("{WORKFLOW_PATH} exists"), "overwrite it with --force or show the new one with --print");
        return report::print_refusal(io, "ci github", &[why]);
    }
    match files::write(path, &text) {
        Ok(()) => io.print_result(&format!("{WORKFLOW_PATH} written\n"), ExitKind::Clean),
        Err(error) => {
            io.print_message(&format!("{WORKFLOW_PATH} could not be written: {error}"));
            ExitKind::Incomplete
        }
    }
}
