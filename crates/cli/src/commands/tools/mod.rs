//! `tools`: exports, imports and compares tool lists.

mod confusable;
mod diff;
mod export;
mod import;
mod kind_guess;
pub(crate) mod server;
mod tool_names;

pub(crate) use import::{file_name, tool_file};
pub(crate) use tool_names::ToolNames;

use crate::args::ToolsCommand;
use crate::exit::ExitKind;
use crate::io::CliOutput;
use crate::workspace_source::WorkspaceSource;
use model::UserError;

/// Returns the error of a command that would have to write into the embedded workspace.
pub(crate) fn embedded_workspace_error() -> UserError {
    UserError::new("the embedded workspace cannot be changed", "run `bardo-eval init` first, or name a folder with --workspace")
}

pub(crate) fn tools(io: &CliOutput, source: &WorkspaceSource, command: &ToolsCommand) -> ExitKind {
    match command {
        ToolsCommand::Export(args) => export::export(io, source, args),
        ToolsCommand::Import(args) => import::import(io, source, args),
        ToolsCommand::Diff(args) => diff::diff(io, source, args),
        ToolsCommand::Confusable(args) => confusable::confusable(io, source, args),
    }
}
