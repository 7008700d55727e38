//! Listing of a tool for models and MCP clients.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// Entry of a tool list, converted to the wire format of each provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolListing {
    pub name: String,
    pub description: String,
    pub input_schema: Arc<Value>,
}
