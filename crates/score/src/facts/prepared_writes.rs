//! Writes that calls of quotes and previews prepare.

use model::{PreparedWrite, Tool, Workspace};
use serde_json::Value;

/// Returns the write that a call of this tool prepares; `None` if the tool prepares nothing or the arguments select no tool.
pub(crate) fn prepared_write<'a>(workspace: &'a Workspace, tool: &Tool, args: &Value) -> Option<PreparedWrite<'a>> {
    workspace.prepared_write(tool, args.as_object()?)
}

/// Returns the tool of the write that a quote or preview stands for: the one it prepares, if arguments of that tool describe the trade.
pub(super) fn stands_for<'a>(workspace: &'a Workspace, tool: &Tool, args: &Value) -> Option<&'a Tool> {
    let write = prepared_write(workspace, tool, args)?;
    let is_described = write.is_nested || !workspace.exceeds_args(tool, write.tool, args.as_object()?);
    is_described.then_some(write.tool)
}
