//! Tool list and description of an MCP server.

use std::collections::BTreeMap;

use super::tool_list::DeclaredEffect;
use model::ToolListing;
use serde_json::Value;

/// Name, version and tools of a server, in the server's order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerListing {
    /// Empty if not given.
    pub server: String,
    /// Empty if not given.
    pub version: String,
    /// Negotiated protocol version, such as `2025-11-25`.
    pub protocol: String,
    pub tools: Vec<ToolListing>,
    /// Output schemas by tool, for tools that have one.
    pub outputs: BTreeMap<String, Value>,
    /// Effects by tool, for tools with annotations.
    pub effects: BTreeMap<String, DeclaredEffect>,
}
