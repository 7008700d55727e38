//! Minimal HTTP client that makes the same calls as a run, as a reference for benchmarks.

use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::Instant;

/// Wall time of all calls, and the latency of each.
#[derive(Debug)]
pub struct ClientTiming {
    pub wall: Duration,
    pub latencies: Vec<Duration>,
}

impl ClientTiming {
    /// Returns the mean latency.
    pub fn mean_latency(&self) -> Duration {
        self.latencies.iter().sum::<Duration>() / u32::try_from(self.latencies.len().max(1)).unwrap_or(u32::MAX)
    }
}

/// Posts the body `calls` times, `at_once` in parallel, and reads every reply to its end.
#[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
pub async fn bare_client(url: &str, body: &str, calls: usize, at_once: usize) -> ClientTiming {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().no_proxy().build().expect("a client");
    let gate = Arc::new(Semaphore::new(at_once));
    let began = Instant::now();
    let all: Vec<_> = (0..calls)
        .map(|_| {
            let (client, gate, url, body) = (client.clone(), gate.clone(), url.to_owned(), body.to_owned());
            tokio::spawn(async move {
                let _turn = gate.acquire().await.expect("an open gate");
                let began = Instant::now();
                let reply = client.post(url).header("content-type", "application/json").body(body).send().await.expect("a reply");
                let bytes = reply.bytes().await.expect("a whole reply");
                assert!(!bytes.is_empty());
                began.elapsed()
            })
        })
        .collect();
    let mut latencies = vec![];
    for one in all {
        latencies.push(one.await.expect("a call"));
    }
    ClientTiming { wall: began.elapsed(), latencies }
}
