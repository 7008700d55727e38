//! MCP reference server from npm, over both transports.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use bardo_eval_world::mcp::{McpEndpoint, ServerListing, list_tools};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use crate::mcp::{command, generous_limits, path};

const VERSION: &str = "2026.8.31"; // also named in scripts/install-test-tools

fn server() -> String {
    let root =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../.tools/node_modules/@modelcontextprotocol/server-everything/dist/index.js");
    assert!(root.is_file(), "{} is missing: run scripts/install-test-tools (version {VERSION})", root.display());
    root.to_str().expect("a UTF-8 path").to_owned()
}

fn check(listed: &ServerListing) {
    assert_eq!(listed.server, "mcp-servers/everything");
    assert_eq!(listed.protocol, "2025-11-25");
    assert!(!listed.version.is_empty());
    let echo = listed.tools.iter().find(|tool| tool.name == "echo").expect("it has an echo tool");
    assert_eq!(echo.input_schema["properties"]["message"]["type"], "string");
    assert!(listed.tools.len() > 5 && listed.tools.iter().all(|tool| !tool.description.is_empty()), "{:?}", listed.tools);
}

#[tokio::test]
async fn public_server_lists_equally_over_stdio() {
    let source = command("node", &[&server()]);
    let listed = list_tools(&source, &generous_limits()).await.unwrap();
    check(&listed);
    assert_eq!(list_tools(&source, &generous_limits()).await.unwrap(), listed);
}

#[tokio::test]
async fn public_server_lists_equally_over_http() {
    let (_child, url) = serve_http().await;
    let listed = list_tools(&McpEndpoint::Url(url), &generous_limits()).await.unwrap();
    check(&listed);
    assert_eq!(list_tools(&command("node", &[&server()]), &generous_limits()).await.unwrap(), listed);
}

// Retries if another process takes the free port before the server does.
async fn serve_http() -> (Child, String) {
    for _ in 0..3 {
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut node = Command::new("node");
        node.arg(server()).arg("streamableHttp").env_clear().env("PATH", path()).env("PORT", port.to_string());
        node.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut child = node.spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let listening = async {
            while let Some(line) = lines.next_line().await.unwrap() {
                if line.contains("listening on port") {
                    return true;
                }
            }
            false
        };
        if tokio::time::timeout(Duration::from_secs(60), listening).await.unwrap() {
            // Drain the pipe: a closed one would end the server at its next line.
            tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
            return (child, format!("http://127.0.0.1:{port}/mcp"));
        }
    }
    panic!("the server did not start listening");
}
