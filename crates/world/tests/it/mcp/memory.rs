//! Own MCP server and client, connected in memory.

use std::sync::Arc;

use bardo_eval_world::mcp::{ListOnlyHandler, McpFault, McpReply, ToolHandler, ToolServer, list_in_memory};
use model::ToolListing;
use rmcp::model::{CallToolRequestParams, ErrorCode, PaginatedRequestParams};
use rmcp::service::{RunningService, ServiceError};
use rmcp::{RoleClient, ServiceExt};
use serde_json::{Map, Value, json};

fn tools(count: usize) -> Vec<ToolListing> {
    let tool = |i: usize| ToolListing {
        // Names are unsorted and of different lengths, so that reordering would show.
        name: format!("tool_{}", (i * 7919) % 100_003),
        description: format!("Does thing {i}.\nÄ second line, \"quoted\"."),
        input_schema:
            json!({"type": "object", "properties": {"z": {"type": "number", "default": 1.0}, "a": {"enum": [i, null]}}, "required": ["z"]})
                .into(),
    };
    (0..count).map(tool).collect()
}

#[tokio::test]
async fn two_hundred_tools_are_listed_unchanged() {
    assert_eq!(list_in_memory(tools(200)).await.unwrap(), tools(200));
}

#[tokio::test]
async fn tools_list_paging_loses_no_tool() {
    for count in [0, 1, 49, 50, 51, 100, 101] {
        assert_eq!(list_in_memory(tools(count)).await.unwrap(), tools(count), "{count} tools");
    }
}

#[tokio::test]
async fn schema_key_order_is_preserved() {
    let listed = list_in_memory(tools(1)).await.unwrap();
    assert_eq!(serde_json::to_string(&listed).unwrap(), serde_json::to_string(&tools(1)).unwrap());
}

#[tokio::test]
async fn invalid_tool_list_is_refused() {
    let mut twice = tools(2);
    twice[1].name = twice[0].name.clone();
    assert_eq!(*list_in_memory(twice).await.unwrap_err().fault, McpFault::RepeatedTool { tool: "tool_0".to_owned() });
    let mut list = tools(1);
    list[0].input_schema = json!(true).into();
    assert!(matches!(*list_in_memory(list).await.unwrap_err().fault, McpFault::BadTool { .. }));
}

async fn connect_in_memory(answer: Arc<dyn ToolHandler>) -> RunningService<RoleClient, ()> {
    let server = ToolServer::new(tools(60), answer).unwrap();
    let (near, far) = tokio::io::duplex(4096);
    tokio::spawn(async move { server.serve(far).await.unwrap().waiting().await });
    ().serve(near).await.unwrap()
}

fn code<T: std::fmt::Debug>(outcome: Result<T, ServiceError>) -> ErrorCode {
    let error = outcome.unwrap_err();
    let ServiceError::McpError(data) = error else { panic!("not a protocol error: {error}") };
    data.code
}

#[tokio::test]
async fn unknown_tool_or_cursor_is_a_protocol_error() {
    let client = connect_in_memory(Arc::new(ListOnlyHandler)).await;
    assert_eq!(code(client.call_tool(CallToolRequestParams::new("nope")).await), ErrorCode::INVALID_PARAMS);
    for cursor in ["60", "-1", "x", ""] {
        let params = PaginatedRequestParams::default().with_cursor(Some(cursor.to_owned()));
        assert_eq!(code(client.list_tools(Some(params)).await), ErrorCode::INVALID_PARAMS, "{cursor:?}");
    }
}

#[tokio::test]
async fn list_only_server_fails_tool_calls() {
    let client = connect_in_memory(Arc::new(ListOnlyHandler)).await;
    let result = client.call_tool(CallToolRequestParams::new("tool_0")).await.unwrap();
    assert_eq!(result.is_error, Some(true));
    assert_eq!(result.content[0].as_text().unwrap().text, "this server only lists tools; start a world to call them");
}

#[derive(Debug)]
struct EchoHandler;

#[async_trait::async_trait]
impl ToolHandler for EchoHandler {
    async fn answer(&self, tool: &str, arguments: Map<String, Value>) -> McpReply {
        McpReply::Done(json!({"tool": tool, "arguments": arguments}))
    }
}

#[tokio::test]
async fn tool_call_reaches_the_handler() {
    let client = connect_in_memory(Arc::new(EchoHandler)).await;
    let arguments = json!({"z": 2}).as_object().unwrap().clone();
    let result = client.call_tool(CallToolRequestParams::new("tool_0").with_arguments(arguments)).await.unwrap();
    assert_eq!(result.is_error, Some(false));
    assert_eq!(result.structured_content, Some(json!({"tool": "tool_0", "arguments": {"z": 2}})));
}
