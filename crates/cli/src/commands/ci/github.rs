//! A workflow for GitHub Actions that runs the tiers of each event.

use crate::args::CiGithubArgs;
use crate::exit::Exit;
use crate::files;
use crate::io::Io;
use crate::open::Source;
use crate::report;
use model::UserError;
use std::path::Path;

const WORKFLOW: &str = include_str!("workflow.yml");
const WHERE: &str = ".github/workflows/bardo-eval.yml";

pub(super) fn github(io: &Io, source: &Source, args: &CiGithubArgs) -> Exit {
    let workspace = match super::super::open(io, source, "ci github") {
        Ok(workspace) => workspace,
        Err(exit) => return exit,
    };
    let Some(subject) = workspace.subject(&args.subject) else {
        let known = workspace.subjects.iter().map(|subject| subject.name.as_str());
        return report::refused(io, "ci github", &[UserError::unknown("subject", &args.subject, known)]);
    };
    if [&args.branch, &args.install].iter().any(|text| text.contains(['\n', '\r'])) {
        return report::refused(io, "ci github", &[UserError::plain("a branch and a command are one line each")]);
    }
    let key = subject.key_env.as_deref().map_or_else(String::new, |name| format!("\n  {name}: ${{{{ secrets.{name} }}}}"));
    let root = match source {
        Source::Embedded => " --embedded".to_owned(),
        Source::Folder(folder) if folder == Path::new("evals") => String::new(),
        Source::Folder(folder) => format!(" --workspace '{}'", folder.display()),
    };
    let text = WORKFLOW
        .replace("@SUBJECT@", &args.subject)
        .replace("@BRANCH@", &args.branch)
        .replace("@INSTALL@", &args.install)
        .replace("@KEY@", &key)
        .replace("@WORKSPACE@", &root);
    if args.print {
        return io.result(&text, Exit::Clean);
    }
    let path = Path::new(WHERE);
    if files::exists(path) && !args.force {
        let why = UserError::new(format!("{WHERE} exists"), "--force replaces it, --print shows the new one");
        return report::refused(io, "ci github", &[why]);
    }
    match files::write(path, &text) {
        Ok(()) => io.result(&format!("{WHERE} written\n"), Exit::Clean),
        Err(error) => {
            io.say(&format!("{WHERE} could not be written: {error}"));
            Exit::Incomplete
        }
    }
}
