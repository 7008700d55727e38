//! Writes that a quote or preview prepares.

use super::Workspace;
use super::executed_args::given_or_default;
use crate::catalog::{PrepareTarget, Tool};
use serde_json::{Map, Value};

/// Write that a call of a quote or preview prepares.
#[derive(Debug, Clone)]
pub struct PreparedWrite<'a> {
    pub tool: &'a Tool,
    /// Arguments that the call fixes for the write.
    pub args: Map<String, Value>,
    /// The call holds the arguments of the write in one of its own.
    pub is_nested: bool,
}

impl Workspace {
    /// Returns the write that the call `given` of the tool `from` prepares, with its arguments under the names and in the units of the
    /// write; `None` if the tool prepares nothing, or the arguments select no tool.
    pub fn prepared_write(&self, from: &Tool, given: &Map<String, Value>) -> Option<PreparedWrite<'_>> {
        let own = |tool| PreparedWrite { tool, args: self.executed_args(from, tool, given), is_nested: false };
        match from.prepares.as_ref()? {
            PrepareTarget::Tool(name) => self.tool(name).map(own),
            PrepareTarget::ByParam { word, args: inside, tools } => {
                let tool = self.tool(tools.get(given_or_default(from, word, given)?.as_str()?)?)?;
                if inside == "all" {
                    return Some(own(tool));
                }
                let args = given.get(inside).and_then(Value::as_object).cloned().unwrap_or_default();
                Some(PreparedWrite { tool, args, is_nested: true })
            }
        }
    }
}
