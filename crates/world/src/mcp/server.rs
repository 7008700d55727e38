//! MCP server over a fixed list of tools. Calls go to a [`ToolHandler`].

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use model::ToolListing;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, ListToolsResult, PaginatedRequestParams,
    ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Map, Value};

use super::error::{McpError, McpFault};
use super::printable::printable;

/// Tools per page. Clients follow the cursor for the rest.
const PAGE_SIZE: usize = 50;

/// Handler of tool calls. `tool` is always a listed name.
#[async_trait]
pub trait ToolHandler: std::fmt::Debug + Send + Sync + 'static {
    async fn answer(&self, tool: &str, arguments: Map<String, Value>) -> McpReply;
}

/// Result of a call. `Failed` is an error of the tool, which the model reads, not a protocol error.
#[derive(Debug, Clone, PartialEq)]
pub enum McpReply {
    Done(Value),
    Failed(String),
}

/// Handler of a server without a world: every call fails.
#[derive(Debug, Clone, Copy)]
pub struct ListOnlyHandler;

#[async_trait]
impl ToolHandler for ListOnlyHandler {
    async fn answer(&self, _tool: &str, _arguments: Map<String, Value>) -> McpReply {
        McpReply::Failed("this server only lists tools; start a world to call them".to_owned())
    }
}

/// Server over a fixed list of tools. Cheap to clone; use one clone per connection.
#[derive(Debug, Clone)]
pub struct ToolServer {
    tools: Arc<[Tool]>,
    answer: Arc<dyn ToolHandler>,
}

impl ToolServer {
    /// # Errors
    ///
    /// Fails if two tools have the same name or a schema is not an object.
    pub fn new(listings: Vec<ToolListing>, answer: Arc<dyn ToolHandler>) -> Result<Self, McpError> {
        check_listings(&listings)?;
        Ok(ToolServer { tools: listings.into_iter().filter_map(to_mcp_tool).collect(), answer })
    }

    fn page(&self, cursor: Option<&str>) -> Result<ListToolsResult, ErrorData> {
        let start = match cursor {
            None => 0,
            Some(text) => text
                .parse()
                .ok()
                .filter(|start| *start < self.tools.len())
                .ok_or_else(|| ErrorData::invalid_params("unknown cursor; start again without one", None))?,
        };
        let end = self.tools.len().min(start + PAGE_SIZE);
        let mut page = ListToolsResult::with_all_items(self.tools[start..end].to_vec());
        page.next_cursor = (end < self.tools.len()).then(|| end.to_string());
        Ok(page)
    }
}

pub(super) const SERVER_NAME: &str = "bardo-eval";

fn own_error(fault: McpFault) -> McpError {
    McpError::new(SERVER_NAME, fault)
}

/// Fails if two tools have the same name or a schema is not an object, which MCP cannot represent.
pub(super) fn check_listings<'l>(listings: impl IntoIterator<Item = &'l ToolListing>) -> Result<(), McpError> {
    let mut names = BTreeSet::new();
    for listing in listings {
        if !names.insert(listing.name.as_str()) {
            return Err(own_error(McpFault::RepeatedTool { tool: printable(&listing.name, 100) }));
        }
        if !listing.input_schema.is_object() {
            return Err(own_error(McpFault::BadTool {
                tool: printable(&listing.name, 100),
                why: "its input schema is not an object".to_owned(),
            }));
        }
    }
    Ok(())
}

/// Converts a listing; `None` if its schema is not an object.
pub(super) fn to_mcp_tool(listing: ToolListing) -> Option<Tool> {
    match Arc::unwrap_or_clone(listing.input_schema) {
        Value::Object(schema) => Some(Tool::new(listing.name, listing.description, schema)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => None,
    }
}

pub(super) fn server_config() -> ServerConfig {
    ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
        .with_server_info(Implementation::new(SERVER_NAME, env!("CARGO_PKG_VERSION")))
}

impl ServerHandler for ToolServer {
    fn get_info(&self) -> ServerConfig {
        server_config()
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        self.page(request.and_then(|params| params.cursor).as_deref())
    }

    async fn call_tool(&self, request: CallToolRequestParams, _: RequestContext<RoleServer>) -> Result<CallToolResponse, ErrorData> {
        if !self.tools.iter().any(|tool| tool.name == request.name) {
            return Err(ErrorData::invalid_params(format!("unknown tool: {}", printable(&request.name, 100)), None));
        }
        let reply = self.answer.answer(&request.name, request.arguments.unwrap_or_default()).await;
        Ok(to_call_result(reply).into())
    }
}

pub(super) fn to_call_result(reply: McpReply) -> CallToolResult {
    match reply {
        // Older clients read only the text. Structured content must be an object.
        McpReply::Done(Value::String(text)) => CallToolResult::success(vec![ContentBlock::text(text)]),
        McpReply::Done(value) => {
            let mut done = CallToolResult::success(vec![ContentBlock::text(value.to_string())]);
            done.structured_content = value.is_object().then_some(value);
            done
        }
        McpReply::Failed(why) => CallToolResult::error(vec![ContentBlock::text(why)]),
    }
}
