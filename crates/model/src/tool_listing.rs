//! What a model or an MCP client is told about one tool: name, description, argument schema.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// One entry of a tool list, in the shape every wire format can be made from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolListing {
    pub name: String,
    pub description: String,
    pub input_schema: Arc<Value>,
}
