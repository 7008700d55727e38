//! `init`: creates a workspace.

use crate::args::InitArgs;
use crate::exit::ExitKind;
use crate::io::CliOutput;
use crate::shell::shell_quoted;
use crate::workspace_source::EMBEDDED;
use crate::{env, files, report};
use model::{MINIMAL_WORKSPACE, UserError, WorkspaceFiles};

mod from_mcp;

/// Stored runs, which a command writes below the folder it is started in.
const GITIGNORE: &str = "# Runs of bardo-eval; commit cassettes/ and golden/ instead.\n.bardo-eval/\n";

pub(crate) fn init(io: &CliOutput, args: &InitArgs) -> ExitKind {
    if !args.force && !files::is_empty(&args.dir) {
        let what = format!("{} already has files; nothing was written", args.dir.display());
        return report::print_error(io, "init", &UserError::new(what, "name another folder or use --force"));
    }
    let workspace: WorkspaceFiles = match &args.from_mcp {
        None if args.minimal => MINIMAL_WORKSPACE.iter().copied().collect(),
        None => EMBEDDED.iter().copied().collect(),
        Some(command) => match from_mcp::build_workspace(io, command, env::child_env(&args.pass_env)) {
            Ok(files) => files,
            Err(exit) => return exit,
        },
    };
    let written = files::write_folder(&args.dir, workspace.iter())
        .and_then(|written| files::write(&args.dir.join(".gitignore"), GITIGNORE).map(|()| written + 1));
    match written {
        Ok(written) => {
            let dir = shell_quoted(&args.dir.display().to_string());
            io.print_result(
                &format!("wrote {} to {dir}\nnext: bardo-eval smoke --workspace {dir}\n", model::count(written, "file")),
                ExitKind::Clean,
            )
        }
        Err(error) => {
            report::print_error(io, "init", &UserError::without_remedy(format!("{} could not be written: {error}", args.dir.display())))
        }
    }
}
