//! `ci github`: writes a GitHub Actions workflow that runs the tiers of each event.

use crate::args::CiGithubArgs;
use crate::exit::ExitKind;
use crate::files;
use crate::io::CliOutput;
use crate::report;
use crate::workspace_source::WorkspaceSource;
use model::UserError;
use std::path::Path;

const WORKFLOW: &str = include_str!("workflow.yml");
const WORKFLOW_PATH: &str = ".github/workflows/bardo-eval.yml";

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
    let key = subject.key_env.as_deref().map_or_else(String::new, |name| format!("\n  {name}: ${{{{ secrets.{name} }}}}"));
    let root = match source {
        WorkspaceSource::Embedded => " --embedded".to_owned(),
        WorkspaceSource::Folder(folder) if folder == Path::new("evals") => String::new(),
        WorkspaceSource::Folder(folder) => format!(" --workspace '{}'", folder.display()),
    };
    let text = WORKFLOW
        .replace("@SUBJECT@", &args.subject)
        .replace("@BRANCH@", &args.branch)
        .replace("@INSTALL@", &args.install)
        .replace("@KEY@", &key)
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
