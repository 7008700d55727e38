//! A server on this machine that answers like a vendor, well or badly. Tests and benchmarks of several crates share it by path.

#![allow(dead_code, unreachable_pub, reason = "every user needs another part of it, and has it inside")]

use serde_json::Value;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio::time::sleep;

/// A request as it arrived.
#[derive(Debug, Clone)]
pub struct Seen {
    pub path: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Value,
    pub raw: String,
}

impl Seen {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

#[derive(Debug, Clone)]
pub struct Answer {
    pub after: Duration,
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: Body,
}

#[derive(Debug, Clone)]
pub enum Body {
    Whole(Vec<u8>),
    /// Said to be whole, but the connection closes after these bytes.
    Cut(Vec<u8>),
    /// One byte at a time, for ever as far as anyone waits.
    Drip(Vec<u8>, Duration),
    /// Nothing: the connection is reset.
    Reset,
    /// So many bytes of no use, without saying how many.
    Endless(usize),
}

impl Answer {
    pub fn ok(body: impl Into<Vec<u8>>) -> Self {
        Self { after: Duration::ZERO, status: 200, headers: vec![], body: Body::Whole(body.into()) }
    }

    pub fn status(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self { status, ..Self::ok(body) }
    }

    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub fn bad(body: Body) -> Self {
        Self { body, ..Self::ok("") }
    }

    pub fn after(self, after: Duration) -> Self {
        Self { after, ..self }
    }
}

#[derive(Debug)]
pub struct Loopback {
    pub url: String,
    seen: Arc<Mutex<Vec<Seen>>>,
    task: JoinHandle<()>,
}

impl Drop for Loopback {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Loopback {
    /// Answers every request with what the function says; the number counts requests from 0.
    pub async fn start(answer: impl Fn(usize, &Seen) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let seen = Arc::new(Mutex::new(vec![]));
        let (answer, kept) = (Arc::new(answer), seen.clone());
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (answer, kept) = (answer.clone(), kept.clone());
                tokio::spawn(async move {
                    let _ = serve(stream, answer.as_ref(), &kept).await;
                });
            }
        });
        Self { url, seen, task }
    }

    /// A model that answers every request the same way, after a while: what a benchmark measures itself against.
    pub async fn slow_model(after: Duration, body: String) -> Self {
        Self::start(move |_, _| Answer::ok(body.clone()).after(after)).await
    }

    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().expect("nobody panics here").clone()
    }

    pub fn count(&self) -> usize {
        self.seen.lock().expect("nobody panics here").len()
    }
}

async fn serve(
    mut stream: TcpStream,
    answer: &(dyn Fn(usize, &Seen) -> Answer + Send + Sync),
    kept: &Mutex<Vec<Seen>>,
) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = vec![];
    while let Some(seen) = request(&mut stream, &mut buffer).await? {
        let number = {
            let mut kept = kept.lock().expect("nobody panics here");
            kept.push(seen.clone());
            kept.len() - 1
        };
        let answer = answer(number, &seen);
        sleep(answer.after).await;
        if !respond(&mut stream, &answer).await? {
            return Ok(());
        }
    }
    Ok(())
}

/// The next request on this connection, or nothing when the client closed it.
async fn request(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> std::io::Result<Option<Seen>> {
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
            return Ok(Some(Seen { path, headers, body, raw }));
        }
        let read = stream.read(&mut chunk).await?;
        if read == 0 {
            return Ok(None);
        }
        buffer.extend_from_slice(&chunk[..read]);
    }
}

/// Whether the connection can be used again.
async fn respond(stream: &mut TcpStream, answer: &Answer) -> std::io::Result<bool> {
    let mut head = format!("HTTP/1.1 {} Whatever\r\n", answer.status);
    for (name, value) in &answer.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    match &answer.body {
        Body::Whole(bytes) => {
            head.push_str(&format!("content-length: {}\r\n\r\n", bytes.len()));
            let mut all = head.into_bytes();
            all.extend_from_slice(bytes);
            stream.write_all(&all).await?;
            Ok(true)
        }
        Body::Cut(bytes) => {
            head.push_str(&format!("content-length: {}\r\n\r\n", bytes.len() + 100));
            stream.write_all(head.as_bytes()).await?;
            stream.write_all(bytes).await?;
            stream.shutdown().await?;
            Ok(false)
        }
        Body::Drip(bytes, pause) => {
            head.push_str(&format!("content-length: {}\r\n\r\n", bytes.len()));
            stream.write_all(head.as_bytes()).await?;
            for byte in bytes {
                stream.write_all(&[*byte]).await?;
                sleep(*pause).await;
            }
            Ok(true)
        }
        Body::Reset => {
            // Nothing is left to send, so closing now with unread or lingering data resets.
            stream.set_zero_linger()?;
            Ok(false)
        }
        Body::Endless(bytes) => {
            head.push_str("transfer-encoding: chunked\r\n\r\n");
            stream.write_all(head.as_bytes()).await?;
            let piece = vec![b'x'; 64 << 10];
            let mut sent = 0;
            while sent < *bytes {
                stream.write_all(format!("{:x}\r\n", piece.len()).as_bytes()).await?;
                stream.write_all(&piece).await?;
                stream.write_all(b"\r\n").await?;
                sent += piece.len();
            }
            stream.write_all(b"0\r\n\r\n").await?;
            Ok(true)
        }
    }
}
