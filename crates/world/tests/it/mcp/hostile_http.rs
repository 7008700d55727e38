//! Foreign web servers, simulated by a socket that sends the same reply to every request.

use std::time::Duration;

use bardo_eval_world::mcp::{BoundedQuantity, McpEndpoint, McpFault, McpLimits, list_tools};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::mcp::generous_limits;

/// Answers every request with `head`, an empty line and `body` repeated `times`.
async fn serve(head: &'static str, body: &'static [u8], times: usize) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://user:secret@{}/mcp?key=secret", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let _ = stream.read(&mut [0; 64 * 1024]).await;
                let _ = stream.write_all(format!("HTTP/1.1 {head}\r\nConnection: close\r\n\r\n").as_bytes()).await;
                for _ in 0..times {
                    if stream.write_all(body).await.is_err() {
                        return;
                    }
                }
            });
        }
    });
    url
}

async fn fault(url: String, limits: &McpLimits) -> McpFault {
    let error = list_tools(&McpEndpoint::Url(url), limits).await.expect_err("a foreign server was accepted");
    assert!(!error.to_string().contains("secret"), "{error}");
    *error.fault
}

#[tokio::test]
async fn endless_http_reply_is_cut_for_json_and_sse() {
    let limits = McpLimits { message_bytes: 100_000, ..generous_limits() };
    for kind in ["200 OK\r\nContent-Type: application/json", "200 OK\r\nContent-Type: text/event-stream", "500 Oops"] {
        let url = serve(kind, &[b' '; 1000], usize::MAX).await;
        assert_eq!(fault(url, &limits).await, McpFault::TooMuch { what: BoundedQuantity::Message, limit: 100_000 }, "{kind}");
    }
}

#[tokio::test]
async fn html_page_is_not_mcp() {
    let url = serve("200 OK\r\nContent-Type: text/html", b"<h1>\x1b[2JHi</h1>", 1).await;
    assert_eq!(fault(url, &generous_limits()).await, McpFault::NotMcp { why: "it answered <h1>\\u{1b}[2JHi</h1>".to_owned() });
}

#[tokio::test]
async fn http_error_status_is_shown_with_body() {
    for (head, status) in [("401 No", 401), ("404 No", 404), ("500 No", 500), ("302 No\r\nLocation: http://127.0.0.1:1/", 302)] {
        let url = serve(head, b"go away", 1).await;
        assert_eq!(fault(url, &generous_limits()).await, McpFault::Status { status, said: "go away".to_owned() });
    }
}

#[tokio::test]
async fn silent_http_server_times_out() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let limits = McpLimits { timeout: Duration::from_millis(500), ..McpLimits::default() };
    assert_eq!(fault(url, &limits).await, McpFault::NoAnswer { within: limits.timeout });
}

#[tokio::test]
async fn closed_port_or_invalid_url_is_unreachable() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    for url in [format!("http://127.0.0.1:{port}/mcp"), "ftp://127.0.0.1/".to_owned(), "not an address".to_owned()] {
        let fault = fault(url.clone(), &generous_limits()).await;
        assert!(matches!(fault, McpFault::Unreachable { .. }), "{url}: {fault:?}");
    }
}
