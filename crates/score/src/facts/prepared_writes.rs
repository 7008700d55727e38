//! Writes that a quote or preview prepares.

use model::{PrepareTarget, Tool, Workspace};
use serde_json::Value;

/// Write that a call prepares, with the arguments for it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PreparedWrite<'a> {
    pub tool: &'a Tool,
    pub args: &'a Value,
}

/// Returns the write that a call of this tool prepares; `None` if the tool prepares nothing or the arguments select no tool.
pub(crate) fn prepared_write<'a>(workspace: &'a Workspace, tool: &Tool, args: &'a Value) -> Option<PreparedWrite<'a>> {
    let (name, args) = match tool.prepares.as_ref()? {
        PrepareTarget::Tool(name) => (name, args),
        PrepareTarget::ByParam { word, args: inside, tools } => {
            let name = tools.get(args.get(word)?.as_str()?)?;
            (name, if inside == "all" { args } else { args.get(inside)? })
        }
    };
    Some(PreparedWrite { tool: workspace.tool(name)?, args })
}
