//! Validated call of a known tool.

use super::args::ToolArgs;
use super::tool_error::{ToolError, quote_value};
use crate::ActingAgent;
use model::Tool;
use model::transcript::ToolErrorCode;
use serde_json::{Map, Value};

#[derive(Debug, Clone, Copy)]
pub(super) struct ToolRequest<'a> {
    pub who: &'a ActingAgent,
    /// Number of the call in the event log.
    pub call: u32,
    pub tool: &'a Tool,
    pub given: &'a Map<String, Value>,
}

impl<'a> ToolRequest<'a> {
    pub(super) fn args(&self) -> ToolArgs<'a> {
        ToolArgs::new(self.tool, self.given)
    }

    pub(super) fn action_id(&self) -> Option<&'a str> {
        self.given.get("action_id").and_then(Value::as_str)
    }

    pub(super) fn is_dry_run(&self) -> bool {
        self.given.get("dry_run") == Some(&Value::Bool(true))
    }
}

/// Fails if arguments violate the schema of a tool.
pub(super) fn check_schema(tool: &Tool, given: &Map<String, Value>) -> Result<(), ToolError> {
    match tool.schema.violations(&Value::Object(given.clone())).first() {
        Some(violation) => {
            Err(ToolError::new(ToolErrorCode::InvalidArguments, format!("{}: {}", quote_value(&violation.path), violation.what)))
        }
        None => Ok(()),
    }
}
