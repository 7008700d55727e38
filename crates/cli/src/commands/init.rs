//! Writing a workspace to start from.

use crate::args::InitArgs;
use crate::exit::Exit;
use crate::io::Io;
use crate::open::EMBEDDED;
use crate::{env, files, report};
use model::{Files, MINIMAL_WORKSPACE, UserError};

mod from_mcp;

pub(crate) fn init(io: &Io, args: &InitArgs) -> Exit {
    if !args.force && !files::is_empty(&args.dir) {
        let what = format!("{} already has files; nothing was written", args.dir.display());
        return report::complained(io, "init", &UserError::new(what, "name another folder or use --force"));
    }
    let workspace: Files = match &args.from_mcp {
        None if args.minimal => MINIMAL_WORKSPACE.iter().copied().collect(),
        None => EMBEDDED.iter().copied().collect(),
        Some(command) => match from_mcp::workspace(io, command, env::for_child(&args.pass_env)) {
            Ok(files) => files,
            Err(exit) => return exit,
        },
    };
    match files::write_folder(&args.dir, workspace.iter()) {
        Ok(written) => {
            let dir = args.dir.display();
            io.result(&format!("wrote {written} files to {dir}\nnext: bardo-eval smoke --workspace {dir}\n"), Exit::Clean)
        }
        Err(error) => report::complained(io, "init", &UserError::plain(format!("{} could not be written: {error}", args.dir.display()))),
    }
}
