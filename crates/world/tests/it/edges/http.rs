//! The port itself: pages, paths, tokens, names, and what closing means.

use std::net::SocketAddr;
use std::time::Duration;

use bardo_eval_world::World;
use bardo_eval_world::edges::{EdgeError, Edges, Server, Token};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::edges::small::{SLOW_WEI, Small, as_shared, seat};
use crate::edges::{PATIENCE, kinds};

pub(crate) fn at(edges: &Edges) -> SocketAddr {
    edges.url.strip_prefix("http://").unwrap().parse().unwrap()
}

/// Sends bytes and reads until the other side closes; status and all that came.
pub(crate) async fn exchange(at: SocketAddr, bytes: &[u8]) -> (u16, String) {
    let talk = async {
        let mut stream = TcpStream::connect(at).await.unwrap();
        // A server that refuses may stop reading; what it said still counts.
        let _ = stream.write_all(bytes).await;
        let mut said = Vec::new();
        let _ = stream.read_to_end(&mut said).await;
        String::from_utf8_lossy(&said).into_owned()
    };
    let said = tokio::time::timeout(PATIENCE, talk).await.expect("no answer");
    (said.get(9..12).and_then(|status| status.parse().ok()).unwrap_or(0), said)
}

pub(crate) async fn ask(at: SocketAddr, method: &str, path: &str, headers: &str, body: &str) -> (u16, String) {
    let host = if headers.to_lowercase().contains("host:") { String::new() } else { format!("Host: {at}\r\n") };
    let length = body.len();
    let request = format!("{method} {path} HTTP/1.1\r\n{host}Connection: close\r\nContent-Length: {length}\r\n{headers}\r\n{body}");
    exchange(at, request.as_bytes()).await
}

pub(crate) async fn rpc(edges: &Edges, chain: u64, body: &str) -> Value {
    let path = edges.rpc_url(chain).replace(&edges.url, "");
    let (status, said) = ask(at(edges), "POST", &path, "Content-Type: application/json\r\n", body).await;
    assert_eq!(status, 200, "{said}");
    serde_json::from_str(said.split_once("\r\n\r\n").unwrap().1).unwrap()
}

#[tokio::test]
async fn pages_are_read_and_their_reading_is_recorded() {
    let world = Small::shared().await;
    let edges = Edges::open("trial", as_shared(&world), seat()).await.unwrap();
    let base = edges.pages_url().replace(&edges.url, "");
    let (status, said) = ask(at(&edges), "GET", &format!("{base}docs/terms%20of%20use.md?x=1"), "", "").await;
    assert_eq!(status, 200);
    assert!(said.contains("text/markdown") && said.contains("nosniff") && said.ends_with("# Terms\nBe kind."), "{said}");
    assert!(ask(at(&edges), "GET", &format!("{base}token/usdc.json"), "", "").await.1.contains("application/json"));
    for missing in ["", "docs/none.md", "../docs/terms%20of%20use.md", "docs/%ff", "%"] {
        assert_eq!(ask(at(&edges), "GET", &format!("{base}{missing}"), "", "").await.0, 404, "{missing}");
    }
    assert_eq!(ask(at(&edges), "POST", &format!("{base}token/usdc.json"), "", "{}").await.0, 405);
    assert_eq!(kinds(&world.lock().await.take_events()), ["hole_read"; 2]);
}

#[tokio::test]
async fn other_names_origins_paths_and_tokens_are_refused() {
    let server = Server::open().await.unwrap();
    let (one, other) = (Small::shared().await, Small::shared().await);
    let first = server.admit("first", as_shared(&one), seat(), Token::random().unwrap()).unwrap();
    let second = server.admit("second", as_shared(&other), seat(), Token::random().unwrap()).unwrap();
    let home = at(&first);
    assert!(home.ip().is_loopback());
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "eth_chainId" }).to_string();
    let rpc_path = first.rpc_url(1).replace(&first.url, "");
    let page = format!("{}token/usdc.json", first.pages_url().replace(&first.url, ""));
    let bearer = format!("Authorization: Bearer {}\r\n", first.token.as_str());
    for foreign in ["Host: evil.example\r\n", &format!("Host: evil.example:{}\r\n", home.port()), "Host: \r\n"] {
        assert_eq!(ask(home, "POST", &rpc_path, foreign, &body).await.0, 403, "{foreign}");
        assert_eq!(ask(home, "GET", &page, foreign, "").await.0, 403, "{foreign}");
        assert_eq!(ask(home, "POST", "/mcp/first", &format!("{bearer}{foreign}"), &body).await.0, 403, "{foreign}");
    }
    for origin in ["Origin: http://evil.example\r\n", "Origin: null\r\n"] {
        assert_eq!(ask(home, "POST", &rpc_path, origin, &body).await.0, 403, "{origin}");
        assert_eq!(ask(home, "GET", &page, origin, "").await.0, 403, "{origin}");
        assert_eq!(ask(home, "POST", "/mcp/first", &format!("{bearer}{origin}"), &body).await.0, 403, "{origin}");
    }
    let strange = format!("/rpc/{}/1", "0".repeat(64));
    for path in ["/", "", "/mcp", "/rpc/", "/rpc//1", strange.as_str(), "/pages//x", "/nothing/here"] {
        let path = if path.is_empty() { "*" } else { path };
        assert_eq!(ask(home, "POST", path, "", &body).await.0, 404, "{path}");
    }
    for chain in ["2", "x", "", "-1", "99999999999999999999", "1/2"] {
        assert_eq!(ask(home, "POST", &format!("/rpc/{}/{chain}", first.token.as_str()), "", &body).await.0, 404, "{chain}");
    }
    assert_eq!(ask(home, "POST", "/mcp/second", &bearer, &body).await.0, 401);
    assert_eq!(ask(home, "POST", "/mcp/third", &bearer, &body).await.0, 401);
    assert_eq!(ask(home, "GET", &rpc_path, "", "").await.0, 405);
    // Each trial has its own chain, whatever the other does.
    let payment = json!([{ "to": "0x70997970C51812dc3A010C7d01b50e0d17dc79C8", "value": "0x1" }]);
    let send = json!({ "jsonrpc": "2.0", "id": 1, "method": "eth_sendTransaction", "params": payment });
    let count =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "eth_getTransactionCount", "params": ["0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"] });
    let before = rpc(&first, 1, &count.to_string()).await["result"].clone();
    assert!(rpc(&first, 1, &send.to_string()).await["result"].is_string());
    assert_ne!(rpc(&first, 1, &count.to_string()).await["result"], before);
    assert_eq!(rpc(&second, 1, &count.to_string()).await["result"], before);
    assert_eq!(kinds(&one.lock().await.take_events()), ["signed", "mined"]);
    assert_eq!(other.lock().await.take_events(), []);
}

#[tokio::test]
async fn ids_and_tokens_are_taken_once_and_freed() {
    let server = Server::open().await.unwrap();
    let world = Small::shared().await;
    let token = Token::random().unwrap();
    let first = server.admit("one", as_shared(&world), seat(), token.clone()).unwrap();
    let again = |id: &str, token: &Token| server.admit(id, as_shared(&world), seat(), token.clone());
    assert!(matches!(again("one", &Token::random().unwrap()), Err(EdgeError::RepeatedId(_))));
    assert!(matches!(again("two", &token), Err(EdgeError::RepeatedToken)));
    for bad in ["", "a/b", "ä", &"x".repeat(129)] {
        assert!(matches!(again(bad, &Token::random().unwrap()), Err(EdgeError::BadId(_))), "{bad}");
    }
    let home = at(&first);
    drop(first);
    assert_eq!(ask(home, "POST", &format!("/rpc/{}/1", token.as_str()), "", "{}").await.0, 404);
    assert!(again("one", &token).is_ok());
}

#[tokio::test]
async fn dropping_the_last_of_it_closes_the_port() {
    let world = Small::shared().await;
    let edges = Edges::open("trial", as_shared(&world), seat()).await.unwrap();
    let home = at(&edges);
    let mut open = TcpStream::connect(home).await.unwrap();
    drop(edges);
    let closed = async {
        while TcpStream::connect(home).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        // Connections that were open are cut, too.
        let _ = open.read(&mut [0; 16]).await;
    };
    tokio::time::timeout(PATIENCE, closed).await.expect("the port stays open");
}

/// Sends a request, leaves, and says what was recorded all the same.
async fn hung_up(request: String, at: SocketAddr, world: &tokio::sync::Mutex<Small>, events: usize) -> Vec<String> {
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
    tokio::time::timeout(Duration::from_secs(20), recorded).await.expect("what was begun was forgotten");
    kinds(&seen)
}

#[tokio::test]
async fn who_hangs_up_does_not_undo_what_was_asked() {
    let world = Small::shared().await;
    let edges = Edges::open("trial", as_shared(&world), seat()).await.unwrap();
    let post = |path: &str, body: &Value| {
        let (body, home, token) = (body.to_string(), at(&edges), edges.token.as_str());
        let kind = "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n";
        let head = format!("POST {path} HTTP/1.1\r\nHost: {home}\r\nAuthorization: Bearer {token}\r\n{kind}");
        format!("{head}Content-Length: {}\r\n\r\n{body}", body.len())
    };
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "slow", "arguments": {} } });
    assert_eq!(hung_up(post("/mcp/trial", &call), at(&edges), &world, 2).await, ["called", "answered"]);
    let payment = json!([{ "to": "0x70997970C51812dc3A010C7d01b50e0d17dc79C8", "value": format!("{SLOW_WEI:#x}") }]);
    let send = json!({ "jsonrpc": "2.0", "id": 1, "method": "eth_sendTransaction", "params": payment });
    let path = edges.rpc_url(1).replace(&edges.url, "");
    assert_eq!(hung_up(post(&path, &send), at(&edges), &world, 2).await, ["signed", "mined"]);
}
