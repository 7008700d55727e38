//! Reads a server's tool list page by page and keeps only what can be used.

use std::collections::BTreeSet;

use model::Listing;
use rmcp::model::{ClientRequest, ListToolsRequest, ListToolsResult, PaginatedRequestParams, ServerResult, Tool};
use rmcp::service::ServiceError;
use rmcp::{Peer, RoleClient};
use serde_json::Value;

use super::error::{Fault, Quantity, at_most};
use super::limits::Limits;
use super::shown::shown;

/// The protocol asks for at most 128 characters; twice that is no accident any more.
const NAME: usize = 256;

/// A tool of a server, with the shape of its answers where the server says so.
#[derive(Debug, Clone, PartialEq)]
pub struct Offer {
    pub listing: Listing,
    pub output_schema: Option<Value>,
}

pub(super) async fn all_offers(peer: &Peer<RoleClient>, limits: &Limits) -> Result<Vec<Offer>, Fault> {
    let mut catalogue = Catalogue::default();
    let mut cursors = BTreeSet::new();
    let mut cursor = None;
    for _ in 0..limits.pages {
        let page = page(peer, cursor).await?;
        for tool in page.tools {
            catalogue.add(tool, limits)?;
        }
        // Some servers end with an empty cursor instead of none.
        let Some(next) = page.next_cursor.filter(|next| !next.is_empty()) else {
            return Ok(catalogue.tools);
        };
        if !cursors.insert(next.clone()) {
            return Err(Fault::RepeatedCursor { cursor: shown(&next, 100) });
        }
        cursor = Some(next);
    }
    Err(Fault::TooMuch { what: Quantity::Pages, limit: limits.pages })
}

async fn page(peer: &Peer<RoleClient>, cursor: Option<String>) -> Result<ListToolsResult, Fault> {
    // Not `Peer::list_tools`: that one forgets what an unusable page looked like.
    let params = cursor.map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)));
    let request = ListToolsRequest { method: Default::default(), params, extensions: Default::default() };
    let answer = peer.send_request(ClientRequest::ListToolsRequest(request)).await.map_err(request_fault)?;
    if let ServerResult::ListToolsResult(page) = answer {
        return Ok(page);
    }
    let sent = serde_json::to_value(&answer).unwrap_or_default();
    Err(unusable(&sent))
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the SDK's enum is open; what we do not know is told in its own words")]
pub(super) fn request_fault(error: ServiceError) -> Fault {
    match error {
        ServiceError::McpError(error) => Fault::refused(&error),
        ServiceError::TransportClosed => Fault::Ended { how: "it closed the connection".to_owned() },
        ServiceError::TransportSend(error) => Fault::Ended { how: shown(&error.to_string(), 300) },
        other => Fault::NotMcp { why: shown(&other.to_string(), 300) },
    }
}

// The SDK reads a page as a whole or not at all; this finds the tool that spoilt it.
fn unusable(sent: &Value) -> Fault {
    let not_mcp = || Fault::NotMcp { why: format!("it answered tools/list with {}", shown(&sent.to_string(), 200)) };
    let Some(tools) = sent.get("tools").and_then(Value::as_array) else {
        return not_mcp();
    };
    let spoilt = tools.iter().find_map(|tool| {
        let name = tool.get("name").and_then(Value::as_str);
        match (name, tool.get("inputSchema")) {
            (None, _) => Some((shown(&tool.to_string(), 100), "it has no name")),
            (Some(name), None) => Some((shown(name, 100), "it has no input schema")),
            (Some(name), Some(schema)) if !schema.is_object() => Some((shown(name, 100), "its input schema is not an object")),
            (Some(_), Some(_)) => None,
        }
    });
    spoilt.map_or_else(not_mcp, |(tool, why)| Fault::BadTool { tool, why: why.to_owned() })
}

#[derive(Default)]
struct Catalogue {
    tools: Vec<Offer>,
    names: BTreeSet<String>,
}

impl Catalogue {
    fn add(&mut self, tool: Tool, limits: &Limits) -> Result<(), Fault> {
        if self.tools.len() >= limits.tools {
            return Err(Fault::TooMuch { what: Quantity::Tools, limit: limits.tools });
        }
        let description = tool.description.unwrap_or_default().into_owned();
        let schema = Value::Object(tool.input_schema.as_ref().clone());
        at_most(tool.name.len(), NAME, Quantity::Name)?;
        at_most(description.len(), limits.text, Quantity::Description)?;
        at_most(schema.to_string().len(), limits.text, Quantity::Schema)?;
        let output_schema = tool.output_schema.map(|schema| Value::Object(schema.as_ref().clone()));
        at_most(output_schema.as_ref().map_or(0, |schema| schema.to_string().len()), limits.text, Quantity::OutputSchema)?;
        let name = tool.name.into_owned();
        if name.trim().is_empty() {
            return Err(Fault::BadTool { tool: String::new(), why: "its name is empty".to_owned() });
        }
        if !self.names.insert(name.clone()) {
            return Err(Fault::RepeatedTool { tool: shown(&name, 100) });
        }
        self.tools.push(Offer { listing: Listing { name, description, input_schema: schema.into() }, output_schema });
        Ok(())
    }
}
