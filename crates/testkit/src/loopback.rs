//! Loopback HTTP server that replies like a model vendor, correctly or with faults.

use crate::reply::{ReplyBody, VendorReply};
use serde_json::Value;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio::time::sleep;

/// A request as it arrived.
#[derive(Debug, Clone)]
pub struct ReceivedRequest {
    pub path: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Value,
    pub raw: String,
}

impl ReceivedRequest {
    /// Returns a header by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// A running server; it stops when dropped.
#[derive(Debug)]
pub struct LoopbackServer {
    pub url: String,
    requests: Arc<Mutex<Vec<ReceivedRequest>>>,
    task: JoinHandle<()>,
}

impl Drop for LoopbackServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl LoopbackServer {
    /// Starts on a free port. The function gets the request number, from 0, and returns the reply.
    pub async fn start(answer: impl Fn(usize, &ReceivedRequest) -> VendorReply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let requests = Arc::new(Mutex::new(vec![]));
        let (answer, received) = (Arc::new(answer), requests.clone());
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (answer, received) = (answer.clone(), received.clone());
                tokio::spawn(async move {
                    let _ = serve(stream, answer.as_ref(), &received).await;
                });
            }
        });
        Self { url, requests, task }
    }

    /// Starts a model that replies to every request with the same body after a delay.
    pub async fn slow_model(after: Duration, body: String) -> Self {
        Self::start(move |_, _| VendorReply::ok(body.clone()).after(after)).await
    }

    /// Returns all requests so far.
    pub fn requests(&self) -> Vec<ReceivedRequest> {
        self.requests.lock().expect("a lock that is not poisoned").clone()
    }

    /// Returns the number of requests so far.
    pub fn count(&self) -> usize {
        self.requests.lock().expect("a lock that is not poisoned").len()
    }
}

async fn serve(
    mut stream: TcpStream,
    answer: &(dyn Fn(usize, &ReceivedRequest) -> VendorReply + Send + Sync),
    received: &Mutex<Vec<ReceivedRequest>>,
) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = vec![];
    while let Some(request) = read_request(&mut stream, &mut buffer).await? {
        let number = {
            let mut received = received.lock().expect("a lock that is not poisoned");
            received.push(request.clone());
            received.len() - 1
        };
        let reply = answer(number, &request);
        sleep(reply.after).await;
        if !send_reply(&mut stream, &reply).await? {
            return Ok(());
        }
    }
    Ok(())
}

/// Returns the next request on this connection, or `None` once the client has closed it.
async fn read_request(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> std::io::Result<Option<ReceivedRequest>> {
    let mut chunk = vec![0; 64 << 10];
    loop {
        if let Some(end) = buffer.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&buffer[..end]).into_owned();
            let headers: Vec<(String, String)> = head
                .lines()
                .skip(1)
                .filter_map(|line| line.split_once(':'))
                .map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()))
                .collect();
            let length = headers.iter().find(|(name, _)| name == "content-length").and_then(|(_, value)| value.parse().ok()).unwrap_or(0);
            while buffer.len() < end + 4 + length {
                let read = stream.read(&mut chunk).await?;
                if read == 0 {
                    return Ok(None);
                }
                buffer.extend_from_slice(&chunk[..read]);
            }
            let raw = String::from_utf8_lossy(&buffer[end + 4..end + 4 + length]).into_owned();
            buffer.drain(..end + 4 + length);
            let path = head.split_whitespace().nth(1).unwrap_or_default().to_owned();
            let body = serde_json::from_str(&raw).unwrap_or_default();
            return Ok(Some(ReceivedRequest { path, headers, body, raw }));
        }
        let read = stream.read(&mut chunk).await?;
        if read == 0 {
            return Ok(None);
        }
        buffer.extend_from_slice(&chunk[..read]);
    }
}

/// Sends a reply and returns whether the connection can be used again.
async fn send_reply(stream: &mut TcpStream, reply: &VendorReply) -> std::io::Result<bool> {
    let mut head = format!("HTTP/1.1 {} Status\r\n", reply.status);
    for (name, value) in &reply.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    match &reply.body {
        ReplyBody::Whole(bytes) => {
            head.push_str(&format!("content-length: {}\r\n\r\n", bytes.len()));
            let mut all = head.into_bytes();
            all.extend_from_slice(bytes);
            stream.write_all(&all).await?;
            Ok(true)
        }
        ReplyBody::Truncated(bytes) => {
            head.push_str(&format!("content-length: {}\r\n\r\n", bytes.len() + 100));
            stream.write_all(head.as_bytes()).await?;
            stream.write_all(bytes).await?;
            stream.shutdown().await?;
            Ok(false)
        }
        ReplyBody::Drip(bytes, pause) => {
            head.push_str(&format!("content-length: {}\r\n\r\n", bytes.len()));
            stream.write_all(head.as_bytes()).await?;
            for byte in bytes {
                stream.write_all(&[*byte]).await?;
                sleep(*pause).await;
            }
            Ok(true)
        }
        ReplyBody::Reset => {
            // Without lingering, closing the socket sends a reset.
            stream.set_zero_linger()?;
            Ok(false)
        }
        ReplyBody::Endless(bytes) => {
            head.push_str("transfer-encoding: chunked\r\n\r\n");
            stream.write_all(head.as_bytes()).await?;
            let chunk = vec![b'x'; 64 << 10];
            let mut sent = 0;
            while sent < *bytes {
                stream.write_all(format!("{:x}\r\n", chunk.len()).as_bytes()).await?;
                stream.write_all(&chunk).await?;
                stream.write_all(b"\r\n").await?;
                sent += chunk.len();
            }
            stream.write_all(b"0\r\n\r\n").await?;
            Ok(true)
        }
    }
}
