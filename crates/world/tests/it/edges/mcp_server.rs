//! MCP server of a world with the SDK's client: in memory, and over HTTP in both protocol lifecycles.

use bardo_eval_world::endpoints::TrialEndpoints;
use bardo_eval_world::mcp::serve::{WorldLock, WorldServer, serve_in_memory};
use bardo_eval_world::mcp::{McpFault, list_in_memory};
use bardo_eval_world::{InboundMessage, World};
use rmcp::ServiceExt;
use rmcp::model::{CallToolRequestParams, ClientConfig, ProtocolVersion};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::edges::event_kinds;
use crate::edges::small::{SmallWorld, as_shared, toolset};

#[tokio::test]
async fn in_memory_tool_call_acts_in_the_world() {
    let world = SmallWorld::shared().await;
    let server = WorldServer::new(WorldLock::new(as_shared(&world)), toolset(), None).unwrap();
    let (near, serving) = serve_in_memory(server);
    let client = ().serve(near).await.unwrap();
    assert_eq!(client.list_all_tools().await.unwrap().len(), 9);
    let arguments = json!({ "token": "WETH" }).as_object().unwrap().clone();
    let result = client.call_tool(CallToolRequestParams::new("price").with_arguments(arguments)).await.unwrap();
    assert_eq!(result.structured_content, Some(json!({ "token": "WETH", "usd": "3200.00" })));
    client.cancel().await.unwrap();
    serving.await.unwrap().unwrap();
    assert_eq!(event_kinds(&world.lock().await.take_events()), ["hole_read", "called", "answered"]);
}

#[tokio::test]
async fn peer_messages_come_once_with_the_next_answer() {
    let world = SmallWorld::shared().await;
    world.lock().await.messages = vec![InboundMessage { from: "vault-watchdog".into(), nonce: 7, text: "The peg slips.".into() }];
    let (near, _serving) = serve_in_memory(WorldServer::new(WorldLock::new(as_shared(&world)), toolset(), None).unwrap());
    let client = ().serve(near).await.unwrap();
    let ask = || CallToolRequestParams::new("price").with_arguments(json!({ "token": "WETH" }).as_object().unwrap().clone());
    let first = client.call_tool(ask()).await.unwrap();
    let texts: Vec<String> = first.content.iter().filter_map(|block| Some(block.as_text()?.text.clone())).collect();
    assert_eq!(texts.last().unwrap(), "A message arrived from vault-watchdog: The peg slips.");
    let second = client.call_tool(ask()).await.unwrap();
    assert_eq!(second.content.len() + 1, first.content.len());
    let kinds = event_kinds(&world.lock().await.take_events());
    assert_eq!(kinds, ["called", "answered", "messaged", "called", "answered"]);
}

#[tokio::test]
async fn each_tools_list_is_recorded_as_a_read() {
    let world = SmallWorld::shared().await;
    let (near, _serving) = serve_in_memory(WorldServer::new(WorldLock::new(as_shared(&world)), toolset(), None).unwrap());
    let client = ().serve(near).await.unwrap();
    for _ in 0..3 {
        client.list_all_tools().await.unwrap();
    }
    assert_eq!(event_kinds(&world.lock().await.take_events()), ["hole_read"; 3]);
}

#[tokio::test]
async fn closed_trial_rejects_calls() {
    let world = SmallWorld::shared().await;
    let lock = WorldLock::new(as_shared(&world));
    let (near, _serving) = serve_in_memory(WorldServer::new(lock.clone(), toolset(), None).unwrap());
    let client = ().serve(near).await.unwrap();
    // The lock is closed while the world is in use; the waiting call must not be executed.
    let inside = world.clone().lock_owned().await;
    let peer = client.peer().clone();
    let waiting = tokio::spawn(async move { peer.call_tool(CallToolRequestParams::new("price")).await });
    tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    lock.close();
    drop(inside);
    let error = waiting.await.unwrap().unwrap_err().to_string();
    assert!(error.contains("this trial is over"), "{error}");
    assert!(client.list_all_tools().await.is_err());
    assert_eq!(world.lock().await.take_events(), []);
}

#[tokio::test]
async fn garbage_on_stdio_does_not_end_the_server() {
    let world = SmallWorld::shared().await;
    let (mut near, _serving) = serve_in_memory(WorldServer::new(WorldLock::new(as_shared(&world)), toolset(), None).unwrap());
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "x", "version": "1" } } });
    near.write_all(format!("{hello}\n").as_bytes()).await.unwrap();
    let mut chunk = vec![0; 64 * 1024];
    assert!(near.read(&mut chunk).await.unwrap() > 0);
    near.write_all(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n").await.unwrap();
    let deep = "[".repeat(5_000);
    for garbage in ["not json", "{", "[]", "{\"jsonrpc\":\"2.0\"}", "\u{0}\u{1}", deep.as_str()] {
        near.write_all(format!("{garbage}\n").as_bytes()).await.unwrap();
    }
    // Exceeds the maximum line length.
    for _ in 0..5 {
        near.write_all(&vec![b'x'; 1024 * 1024]).await.unwrap();
    }
    near.write_all(b"\n{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}\n").await.unwrap();
    let mut seen = String::new();
    let listed = async {
        while !seen.contains("use_skill") {
            let n = near.read(&mut chunk).await.unwrap();
            assert!(n > 0, "the server closed the stream: {seen}");
            seen.push_str(&String::from_utf8_lossy(&chunk[..n]));
        }
    };
    tokio::time::timeout(crate::edges::CLIENT_TIMEOUT, listed).await.expect("no answer");
}

#[tokio::test]
async fn parallel_calls_cost_thinking_time_once() {
    let world = SmallWorld::shared().await;
    let server = WorldServer::new(WorldLock::new(as_shared(&world)), toolset(), Some("Trade carefully.".into())).unwrap();
    let (near, _serving) = serve_in_memory(server);
    let client = ().serve(near).await.unwrap();
    assert_eq!(client.peer_info().unwrap().instructions.as_deref(), Some("Trade carefully."));
    let call = || client.call_tool(CallToolRequestParams::new("words"));
    futures::future::join_all((0..15).map(|_| call())).await.into_iter().for_each(|answer| drop(answer.unwrap()));
    // One move of 2 s with 15 calls of 0.2 s.
    assert_eq!(world.lock().await.now_ms(), 2_000 + 15 * 200);
    call().await.unwrap();
    call().await.unwrap();
    assert_eq!(world.lock().await.now_ms(), 3 * 2_000 + 17 * 200);
}

#[tokio::test]
async fn world_server_rejects_invalid_tool_list() {
    let world = SmallWorld::shared().await;
    let mut clashing = toolset();
    clashing.tools[0].name = "use_skill".into();
    let error = WorldServer::new(WorldLock::new(as_shared(&world)), clashing, None).unwrap_err();
    assert_eq!(*error.fault, McpFault::RepeatedTool { tool: "use_skill".into() });
    let mut skewed = toolset();
    skewed.tools[0].input_schema = json!([]).into();
    assert!(matches!(*WorldServer::new(WorldLock::new(as_shared(&world)), skewed, None).unwrap_err().fault, McpFault::BadTool { .. }));
    let mut plain = toolset();
    plain.skills.clear();
    plain.delegates.clear();
    assert!(WorldServer::new(WorldLock::new(as_shared(&world)), plain.clone(), None).is_ok());
    assert_eq!(list_in_memory(plain.tools.clone()).await.unwrap(), plain.tools);
}

#[tokio::test]
async fn both_mcp_lifecycles_work_over_http() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let world = SmallWorld::shared().await;
    let edges = TrialEndpoints::open("trial", as_shared(&world), toolset()).await.unwrap();
    let old = ClientLifecycleMode::Initialize;
    let new = ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::LATEST] };
    for lifecycle in [old, new] {
        let config = StreamableHttpClientTransportConfig::with_uri(edges.mcp_url()).auth_header(edges.token.as_str());
        let transport = StreamableHttpClientTransport::with_client(reqwest::Client::builder().no_proxy().build().unwrap(), config);
        let client = ClientConfig::default().serve_with_lifecycle(transport, lifecycle).await.unwrap();
        assert_eq!(client.list_all_tools().await.unwrap().len(), 9);
        // The transport accepts an argument of 1 MB.
        let long = "x".repeat(1024 * 1024);
        let arguments = json!({ "token": long }).as_object().unwrap().clone();
        let result = client.call_tool(CallToolRequestParams::new("price").with_arguments(arguments)).await.unwrap();
        assert_eq!(result.structured_content.unwrap()["token"].as_str().unwrap().len(), long.len());
        client.cancel().await.unwrap();
    }
    assert_eq!(event_kinds(&world.lock().await.take_events()), ["hole_read", "called", "answered"].repeat(2));
}
