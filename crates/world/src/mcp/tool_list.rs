//! Reads the tool list of a server page by page and checks every tool.

use std::collections::BTreeSet;

use model::ToolListing;
use rmcp::model::{ClientRequest, ListToolsRequest, ListToolsResult, PaginatedRequestParams, ServerResult, Tool, ToolAnnotations};
use rmcp::service::ServiceError;
use rmcp::{Peer, RoleClient};
use serde_json::Value;

use super::error::{BoundedQuantity, McpFault, check_limit};
use super::limits::McpLimits;
use super::printable::printable;

/// Maximum length of a tool name. The protocol recommends at most 128 characters.
const MAX_NAME_BYTES: usize = 256;

/// Tool of a server, with its output schema if it has one.
#[derive(Debug, Clone, PartialEq)]
pub struct RemoteTool {
    pub listing: ToolListing,
    pub output_schema: Option<Value>,
    /// Absent if the server does not say.
    pub declared_effect: Option<DeclaredEffect>,
}

/// Effect of a tool by its annotations. A server may be wrong, so a person must check it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeclaredEffect {
    ReadOnly,
    /// Changes something, but only adds to it.
    Additive,
    Destructive,
}

impl DeclaredEffect {
    /// Reads the hints. A tool that is not read-only is destructive unless it says otherwise.
    fn from_annotations(annotations: &ToolAnnotations) -> Option<Self> {
        match (annotations.read_only_hint, annotations.destructive_hint) {
            (Some(true), _) => Some(DeclaredEffect::ReadOnly),
            (Some(false) | None, Some(false)) => Some(DeclaredEffect::Additive),
            (Some(false), None) | (Some(false) | None, Some(true)) => Some(DeclaredEffect::Destructive),
            (None, None) => None,
        }
    }
}

pub(super) async fn fetch_all_tools(peer: &Peer<RoleClient>, limits: &McpLimits) -> Result<Vec<RemoteTool>, McpFault> {
    let mut catalogue = ToolCollector::default();
    let mut cursors = BTreeSet::new();
    let mut cursor = None;
    for _ in 0..limits.pages {
        let page = fetch_page(peer, cursor).await?;
        for tool in page.tools {
            catalogue.add(tool, limits)?;
        }
        // Some servers end with an empty cursor instead of none.
        let Some(next) = page.next_cursor.filter(|next| !next.is_empty()) else {
            return Ok(catalogue.tools);
        };
        if !cursors.insert(next.clone()) {
            return Err(McpFault::RepeatedCursor { cursor: printable(&next, 100) });
        }
        cursor = Some(next);
    }
    Err(McpFault::TooMuch { what: BoundedQuantity::Pages, limit: limits.pages })
}

async fn fetch_page(peer: &Peer<RoleClient>, cursor: Option<String>) -> Result<ListToolsResult, McpFault> {
    // Not `Peer::list_tools`: it drops the content of an invalid page, which the error needs.
    let params = cursor.map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)));
    let request = ListToolsRequest { method: Default::default(), params, extensions: Default::default() };
    let answer = peer.send_request(ClientRequest::ListToolsRequest(request)).await.map_err(request_fault)?;
    if let ServerResult::ListToolsResult(page) = answer {
        return Ok(page);
    }
    let sent = serde_json::to_value(&answer).unwrap_or_default();
    Err(page_fault(&sent))
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the SDK's enum is non-exhaustive; other errors keep their text")]
pub(super) fn request_fault(error: ServiceError) -> McpFault {
    match error {
        ServiceError::McpError(error) => McpFault::refused(&error),
        ServiceError::TransportClosed => McpFault::Ended { how: "it closed the connection".to_owned() },
        ServiceError::TransportSend(error) => McpFault::Ended { how: printable(&error.to_string(), 300) },
        other => McpFault::NotMcp { why: printable(&other.to_string(), 300) },
    }
}

// The SDK rejects a page as a whole; this finds the invalid tool.
fn page_fault(sent: &Value) -> McpFault {
    let not_mcp = || McpFault::NotMcp { why: format!("it answered tools/list with {}", printable(&sent.to_string(), 200)) };
    let Some(tools) = sent.get("tools").and_then(Value::as_array) else {
        return not_mcp();
    };
    let invalid = tools.iter().find_map(|tool| {
        let name = tool.get("name").and_then(Value::as_str);
        match (name, tool.get("inputSchema")) {
            (None, _) => Some((printable(&tool.to_string(), 100), "it has no name")),
            (Some(name), None) => Some((printable(name, 100), "it has no input schema")),
            (Some(name), Some(schema)) if !schema.is_object() => Some((printable(name, 100), "its input schema is not an object")),
            (Some(_), Some(_)) => None,
        }
    });
    invalid.map_or_else(not_mcp, |(tool, why)| McpFault::BadTool { tool, why: why.to_owned() })
}

/// Reads a message of a server, for fuzzers: as a message of the protocol, and as a page of tools. Returns the tools.
#[doc(hidden)]
pub fn read_server_message(line: &[u8]) -> Vec<ToolListing> {
    let limits = McpLimits::default();
    let mut catalogue = ToolCollector::default();
    if let Ok(message) = serde_json::from_slice::<rmcp::model::ServerJsonRpcMessage>(line) {
        drop(serde_json::to_string(&message));
    }
    match serde_json::from_slice::<ListToolsResult>(line) {
        Ok(page) => drop(page.tools.into_iter().try_for_each(|tool| catalogue.add(tool, &limits))),
        Err(_) => drop(page_fault(&serde_json::from_slice(line).unwrap_or_default())),
    }
    assert!(catalogue.tools.len() <= limits.tools, "too many tools");
    catalogue.tools.into_iter().map(|tool| tool.listing).collect()
}

#[derive(Default)]
struct ToolCollector {
    tools: Vec<RemoteTool>,
    names: BTreeSet<String>,
}

impl ToolCollector {
    fn add(&mut self, tool: Tool, limits: &McpLimits) -> Result<(), McpFault> {
        if self.tools.len() >= limits.tools {
            return Err(McpFault::TooMuch { what: BoundedQuantity::Tools, limit: limits.tools });
        }
        let description = tool.description.unwrap_or_default().into_owned();
        let schema = Value::Object(tool.input_schema.as_ref().clone());
        check_limit(tool.name.len(), MAX_NAME_BYTES, BoundedQuantity::Name)?;
        check_limit(description.len(), limits.text_bytes, BoundedQuantity::Description)?;
        check_limit(schema.to_string().len(), limits.text_bytes, BoundedQuantity::Schema)?;
        let output_schema = tool.output_schema.map(|schema| Value::Object(schema.as_ref().clone()));
        check_limit(output_schema.as_ref().map_or(0, |schema| schema.to_string().len()), limits.text_bytes, BoundedQuantity::OutputSchema)?;
        let name = tool.name.into_owned();
        if name.trim().is_empty() {
            return Err(McpFault::BadTool { tool: String::new(), why: "its name is empty".to_owned() });
        }
        if !self.names.insert(name.clone()) {
            return Err(McpFault::RepeatedTool { tool: printable(&name, 100) });
        }
        let declared_effect = tool.annotations.as_ref().and_then(DeclaredEffect::from_annotations);
        let listing = ToolListing { name, description, input_schema: schema.into() };
        self.tools.push(RemoteTool { listing, output_schema, declared_effect });
        Ok(())
    }
}
