//! The tools of a server, and what it says about itself.

use std::collections::BTreeMap;

use model::ToolListing;
use serde_json::Value;

/// A server's name and version, and its tools in its own order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerListing {
    /// Empty if it did not say.
    pub server: String,
    /// Empty if it did not say.
    pub version: String,
    /// The protocol version that was agreed on, such as `2025-11-25`.
    pub protocol: String,
    pub tools: Vec<ToolListing>,
    /// The schemas of the tools' answers, where the server gave any.
    pub outputs: BTreeMap<String, Value>,
}
