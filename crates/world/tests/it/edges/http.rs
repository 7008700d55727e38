//! HTTP server: pages, paths, tokens, host names and shutdown.

use std::net::SocketAddr;
use std::time::Duration;

use bardo_eval_world::World;
use bardo_eval_world::endpoints::{EndpointError, EndpointServer, TrialEndpoints, TrialToken};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::edges::small::{SLOW_WEI, SmallWorld, as_shared, toolset};
use crate::edges::{CLIENT_TIMEOUT, event_kinds};

pub(crate) fn socket_addr(edges: &TrialEndpoints) -> SocketAddr {
    edges.url.strip_prefix("http://").unwrap().parse().unwrap()
}

/// Sends bytes, reads until the connection closes and returns status and reply.
pub(crate) async fn exchange(at: SocketAddr, bytes: &[u8]) -> (u16, String) {
    let talk = async {
        let mut stream = TcpStream::connect(at).await.unwrap();
        // A refusing server may stop reading; its reply still counts.
        let _ = stream.write_all(bytes).await;
        let mut reply = Vec::new();
        let _ = stream.read_to_end(&mut reply).await;
        String::from_utf8_lossy(&reply).into_owned()
    };
    let reply = tokio::time::timeout(CLIENT_TIMEOUT, talk).await.expect("no answer");
    (reply.get(9..12).and_then(|status| status.parse().ok()).unwrap_or(0), reply)
}

pub(crate) async fn http_request(at: SocketAddr, method: &str, path: &str, headers: &str, body: &str) -> (u16, String) {
    let host = if headers.to_lowercase().contains("host:") { String::new() } else { format!("Host: {at}\r\n") };
    let length = body.len();
    let request = format!("{method} {path} HTTP/1.1\r\n{host}Connection: close\r\nContent-Length: {length}\r\n{headers}\r\n{body}");
    exchange(at, request.as_bytes()).await
}

pub(crate) async fn rpc_request(edges: &TrialEndpoints, chain: u64, body: &str) -> Value {
    let path = edges.rpc_url(chain).replace(&edges.url, "");
    let (status, reply) = http_request(socket_addr(edges), "POST", &path, "Content-Type: application/json\r\n", body).await;
    assert_eq!(status, 200, "{reply}");
    serde_json::from_str(reply.split_once("\r\n\r\n").unwrap().1).unwrap()
}

#[tokio::test]
async fn page_reads_are_recorded() {
    let world = SmallWorld::shared().await;
    let edges = TrialEndpoints::open("trial", as_shared(&world), toolset()).await.unwrap();
    let base = edges.pages_url().replace(&edges.url, "");
    let (status, reply) = http_request(socket_addr(&edges), "GET", &format!("{base}docs/terms%20of%20use.md?x=1"), "", "").await;
    assert_eq!(status, 200);
    assert!(reply.contains("text/markdown") && reply.contains("nosniff") && reply.ends_with("# Terms\nBe kind."), "{reply}");
    assert!(http_request(socket_addr(&edges), "GET", &format!("{base}token/usdc.json"), "", "").await.1.contains("application/json"));
    for missing in ["", "docs/none.md", "../docs/terms%20of%20use.md", "docs/%ff", "%"] {
        assert_eq!(http_request(socket_addr(&edges), "GET", &format!("{base}{missing}"), "", "").await.0, 404, "{missing}");
    }
    assert_eq!(http_request(socket_addr(&edges), "POST", &format!("{base}token/usdc.json"), "", "{}").await.0, 405);
    assert_eq!(event_kinds(&world.lock().await.take_events()), ["hole_read"; 2]);
}

#[tokio::test]
async fn wrong_host_origin_path_or_token_is_refused() {
    let server = EndpointServer::open().await.unwrap();
    let (one, other) = (SmallWorld::shared().await, SmallWorld::shared().await);
    let first = server.add_trial("first", as_shared(&one), toolset(), None, TrialToken::random().unwrap()).unwrap();
    let second = server.add_trial("second", as_shared(&other), toolset(), None, TrialToken::random().unwrap()).unwrap();
    let home = socket_addr(&first);
    assert!(home.ip().is_loopback());
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "eth_chainId" }).to_string();
    let rpc_path = first.rpc_url(1).replace(&first.url, "");
    let page = format!("{}token/usdc.json", first.pages_url().replace(&first.url, ""));
    let bearer = format!("Authorization: Bearer {}\r\n", first.token.as_str());
    for foreign in ["Host: evil.example\r\n", &format!("Host: evil.example:{}\r\n", home.port()), "Host: \r\n"] {
        assert_eq!(http_request(home, "POST", &rpc_path, foreign, &body).await.0, 403, "{foreign}");
        assert_eq!(http_request(home, "GET", &page, foreign, "").await.0, 403, "{foreign}");
        assert_eq!(http_request(home, "POST", "/mcp/first", &format!("{bearer}{foreign}"), &body).await.0, 403, "{foreign}");
    }
    for origin in ["Origin: http://evil.example\r\n", "Origin: null\r\n"] {
        assert_eq!(http_request(home, "POST", &rpc_path, origin, &body).await.0, 403, "{origin}");
        assert_eq!(http_request(home, "GET", &page, origin, "").await.0, 403, "{origin}");
        assert_eq!(http_request(home, "POST", "/mcp/first", &format!("{bearer}{origin}"), &body).await.0, 403, "{origin}");
    }
    let strange = format!("/rpc/{}/1", "0".repeat(64));
    for path in ["/", "", "/mcp", "/rpc/", "/rpc//1", strange.as_str(), "/pages//x", "/nothing/here"] {
        let path = if path.is_empty() { "*" } else { path };
        assert_eq!(http_request(home, "POST", path, "", &body).await.0, 404, "{path}");
    }
    for chain in ["2", "x", "", "-1", "99999999999999999999", "1/2"] {
        assert_eq!(http_request(home, "POST", &format!("/rpc/{}/{chain}", first.token.as_str()), "", &body).await.0, 404, "{chain}");
    }
    assert_eq!(http_request(home, "POST", "/mcp/second", &bearer, &body).await.0, 401);
    assert_eq!(http_request(home, "POST", "/mcp/third", &bearer, &body).await.0, 401);
    assert_eq!(http_request(home, "GET", &rpc_path, "", "").await.0, 405);
    // Each trial has its own chain.
    let payment = json!([{ "to": "0x70997970C51812dc3A010C7d01b50e0d17dc79C8", "value": "0x1" }]);
    let send = json!({ "jsonrpc": "2.0", "id": 1, "method": "eth_sendTransaction", "params": payment });
    let count =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "eth_getTransactionCount", "params": ["0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"] });
    let before = rpc_request(&first, 1, &count.to_string()).await["result"].clone();
    assert!(rpc_request(&first, 1, &send.to_string()).await["result"].is_string());
    assert_ne!(rpc_request(&first, 1, &count.to_string()).await["result"], before);
    assert_eq!(rpc_request(&second, 1, &count.to_string()).await["result"], before);
    assert_eq!(event_kinds(&one.lock().await.take_events()), ["signed", "mined"]);
    assert_eq!(other.lock().await.take_events(), []);
}

#[tokio::test]
async fn trial_ids_and_tokens_are_unique_until_dropped() {
    let server = EndpointServer::open().await.unwrap();
    let world = SmallWorld::shared().await;
    let token = TrialToken::random().unwrap();
    let first = server.add_trial("one", as_shared(&world), toolset(), None, token.clone()).unwrap();
    let again = |id: &str, token: &TrialToken| server.add_trial(id, as_shared(&world), toolset(), None, token.clone());
    assert!(matches!(again("one", &TrialToken::random().unwrap()), Err(EndpointError::RepeatedId(_))));
    assert!(matches!(again("two", &token), Err(EndpointError::RepeatedToken)));
    for bad in ["", "a/b", "ä", &"x".repeat(129)] {
        assert!(matches!(again(bad, &TrialToken::random().unwrap()), Err(EndpointError::BadId(_))), "{bad}");
    }
    let home = socket_addr(&first);
    drop(first);
    assert_eq!(http_request(home, "POST", &format!("/rpc/{}/1", token.as_str()), "", "{}").await.0, 404);
    assert!(again("one", &token).is_ok());
}

#[tokio::test]
async fn dropping_the_last_handle_closes_the_port() {
    let world = SmallWorld::shared().await;
    let edges = TrialEndpoints::open("trial", as_shared(&world), toolset()).await.unwrap();
    let home = socket_addr(&edges);
    let mut open = TcpStream::connect(home).await.unwrap();
    drop(edges);
    let closed = async {
        while TcpStream::connect(home).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        // Open connections are closed too.
        let _ = open.read(&mut [0; 16]).await;
    };
    tokio::time::timeout(CLIENT_TIMEOUT, closed).await.expect("the port was not closed");
}

/// Sends a request, disconnects and returns the kinds of the recorded events.
async fn events_after_hang_up(request: String, at: SocketAddr, world: &tokio::sync::Mutex<SmallWorld>, events: usize) -> Vec<String> {
    let mut stream = TcpStream::connect(at).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    tokio::time::sleep(Duration::from_millis(100)).await;
    drop(stream);
    let mut seen = vec![];
    let recorded = async {
        while seen.len() < events {
            tokio::time::sleep(Duration::from_millis(20)).await;
            seen.extend(world.lock().await.take_events());
        }
    };
    tokio::time::timeout(Duration::from_secs(20), recorded).await.expect("the request was not completed");
    event_kinds(&seen)
}

#[tokio::test]
async fn client_hang_up_does_not_cancel_the_call() {
    let world = SmallWorld::shared().await;
    let edges = TrialEndpoints::open("trial", as_shared(&world), toolset()).await.unwrap();
    let post = |path: &str, body: &Value| {
        let (body, home, token) = (body.to_string(), socket_addr(&edges), edges.token.as_str());
        let kind = "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n";
        let head = format!("POST {path} HTTP/1.1\r\nHost: {home}\r\nAuthorization: Bearer {token}\r\n{kind}");
        format!("{head}Content-Length: {}\r\n\r\n{body}", body.len())
    };
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "slow", "arguments": {} } });
    assert_eq!(events_after_hang_up(post("/mcp/trial", &call), socket_addr(&edges), &world, 2).await, ["called", "answered"]);
    let payment = json!([{ "to": "0x70997970C51812dc3A010C7d01b50e0d17dc79C8", "value": format!("{SLOW_WEI:#x}") }]);
    let send = json!({ "jsonrpc": "2.0", "id": 1, "method": "eth_sendTransaction", "params": payment });
    let path = edges.rpc_url(1).replace(&edges.url, "");
    assert_eq!(events_after_hang_up(post(&path, &send), socket_addr(&edges), &world, 2).await, ["signed", "mined"]);
}
