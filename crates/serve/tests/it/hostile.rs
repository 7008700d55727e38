//! Clients that mean harm: they are refused with a clear answer, and others are served meanwhile.

use crate::collector::{TestCollector, grpc_export, request, start};
use bardo_eval_serve::collector::CollectorLimits;
use serde_json::{Value, json};
use std::time::Duration;
use store::production::ProductionCounter;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

fn gzip(body: &[u8]) -> Vec<u8> {
    let mut packed = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    packed.extend(miniz_oxide::deflate::compress_to_vec(body, 6));
    packed.extend([0; 4]);
    packed.extend(u32::try_from(body.len() as u64 & 0xffff_ffff).unwrap().to_le_bytes());
    packed
}

/// Asserts that an ordinary request is served.
async fn assert_served(collector: &TestCollector, trace: u64) {
    let answer = collector.post(request(trace, 0..1), "application/json").await;
    assert_eq!(answer.status(), 200);
}

/// Returns the resident memory of this process in MB.
fn resident_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or("0 kB");
    line.trim().trim_end_matches(" kB").trim().parse::<u64>().unwrap_or(0) / 1024
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_bodies_and_bombs_are_refused_and_memory_stays_flat() {
    let collector = start(CollectorLimits::default(), None).await;
    assert_served(&collector, 0).await;
    let before = resident_mb();
    let large = vec![b' '; 100 << 20];
    let answer = collector.post(large, "application/json").await;
    assert_eq!((answer.status().as_u16(), answer.text().await.unwrap()), (413, "the body has more than 8388608 bytes".to_owned()));
    for _ in 0..5 {
        let bomb = gzip(&vec![b'['; 200 << 20]);
        let post = collector.client.post(format!("{}/v1/traces", collector.url)).header("content-type", "application/json");
        let answer = post.header("content-encoding", "gzip").body(bomb).send().await.unwrap();
        assert_eq!(answer.status(), 413);
    }
    assert_served(&collector, 1).await;
    // The test itself holds the bodies that it sends.
    let grown = resident_mb().saturating_sub(before);
    assert!(grown < 450, "{grown} MB more");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn grpc_refuses_large_messages_bombs_and_nonsense_with_a_status() {
    let collector = start(CollectorLimits::default(), None).await;
    let status = |trailers: &hyper::HeaderMap| trailers["grpc-status"].to_str().unwrap().to_owned();
    let large = vec![b' '; 100 << 20];
    let bomb = gzip(&vec![b'['; 200 << 20]);
    let sent: [(&[u8], Option<&str>, &str); 4] =
        [(&large, None, "3"), (&bomb, Some("gzip"), "3"), (&bomb, Some("br"), "12"), (b"\xff\xfe\x00", None, "3")];
    for (message, encoding, expected) in sent {
        let (trailers, _) = grpc_export(&collector, message, &[("grpc-encoding", encoding)]).await;
        assert_eq!(status(&trailers), expected, "{} bytes, {encoding:?}: {trailers:?}", message.len());
        assert!(trailers.contains_key("grpc-message"), "{trailers:?}");
    }
    assert_served(&collector, 1).await;
    assert_eq!(collector.store().span_count().unwrap(), 1);
}

#[tokio::test]
async fn spans_with_a_million_attributes_are_refused_alone() {
    let collector = start(CollectorLimits::default(), None).await;
    // A million attributes are more than a plain body may have, so the body is packed.
    let pairs = "{\"key\":\"\"},".repeat(1_000_000);
    let span = |attributes: &str| {
        format!("{{\"traceId\":\"0af7651916cd43dd8448eb211c80319c\",\"spanId\":\"b7ad6b7169203331\",\"attributes\":[{attributes}{{}}]}}")
    };
    let body = format!("{{\"resourceSpans\":[{{\"scopeSpans\":[{{\"spans\":[{},{}]}}]}}]}}", span(&pairs), span(""));
    assert_eq!(collector.post(body.clone(), "application/json").await.status(), 413);
    let post = collector.client.post(format!("{}/v1/traces", collector.url)).header("content-type", "application/json");
    let answer = post.header("content-encoding", "gzip").body(gzip(body.as_bytes())).send().await.unwrap();
    let answer: Value = answer.json().await.unwrap();
    assert_eq!(answer["partialSuccess"]["rejectedSpans"], "1");
    assert_eq!(answer["partialSuccess"]["errorMessage"], "a span has too many attributes");
    assert_eq!(collector.store().span_count().unwrap(), 1);
}

#[tokio::test]
async fn odd_spans_are_stored_or_refused_but_never_break_the_collector() {
    let collector = start(CollectorLimits::default(), None).await;
    let id = |n: u64| format!("{n:016x}");
    let trace = format!("{:032x}", 9);
    // A cycle among parents, a duplicate id, a clock that is years off.
    let spans = json!([
        { "traceId": trace, "spanId": id(1), "parentSpanId": id(2), "name": "a", "startTimeUnixNano": "0", "endTimeUnixNano": "18446744073709551615" },
        { "traceId": trace, "spanId": id(2), "parentSpanId": id(1), "name": "b", "startTimeUnixNano": "4102444800000000000" },
        { "traceId": trace, "spanId": id(1), "parentSpanId": id(2), "name": "another a" },
        { "traceId": "nonsense", "spanId": id(3) },
    ]);
    let body = json!({ "resourceSpans": [{ "scopeSpans": [{ "spans": spans }] }] }).to_string();
    let answer = collector.post(body, "application/json").await.json::<Value>().await.unwrap();
    assert_eq!(answer["partialSuccess"]["rejectedSpans"], "2");
    assert_eq!(answer["partialSuccess"]["errorMessage"], "a span has the id of another one with other content");
    assert_eq!((collector.count(ProductionCounter::SpansStored), collector.count(ProductionCounter::SpansConflicting)), (2, 1));
    for (body, kind, status) in [
        (&b"\xff\xfe\x00"[..], "application/json", 400),
        (b"\xff\xfe\x00", "application/x-protobuf", 400),
        (b"{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[{\"name\":\"\xff\"}]}]}]}", "application/json", 400),
        (b"{}", "text/plain", 415),
    ] {
        assert_eq!(collector.post(body, kind).await.status().as_u16(), status);
    }
    assert_served(&collector, 1).await;
}

#[tokio::test]
async fn a_wrong_token_is_refused_before_the_body_is_read() {
    let collector = start(CollectorLimits::default(), Some("0123456789abcdef")).await;
    assert_eq!(collector.post(request(0, 0..1), "application/json").await.status(), 401);
    let post = collector.client.post(format!("{}/v1/traces", collector.url)).header("content-type", "application/json");
    let answer = post.bearer_auth("0123456789abcdef").body(request(0, 0..1)).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    let metrics = collector.client.get(format!("{}/metrics", collector.url)).send().await.unwrap();
    assert_eq!(metrics.status(), 401);
    assert_eq!(collector.store().span_count().unwrap(), 1);
}

#[tokio::test]
async fn slow_clients_are_cut_off_while_others_are_served() {
    let limits = CollectorLimits { request_timeout: Duration::from_secs(1), ..CollectorLimits::default() };
    let collector = start(limits, None).await;
    let at = collector.url.strip_prefix("http://").unwrap().to_owned();
    let mut slow = vec![];
    for n in 0..50 {
        let mut stream = tokio::net::TcpStream::connect(&at).await.unwrap();
        let head = if n % 2 == 0 {
            "POST /v1/traces HTTP/1.1\r\nHost: x\r\nX-Slow: ".to_owned()
        } else {
            format!("POST /v1/traces HTTP/1.1\r\nHost: {at}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{{")
        };
        stream.write_all(head.as_bytes()).await.unwrap();
        slow.push(stream);
    }
    for trace in 0..20 {
        assert_served(&collector, trace).await;
    }
    for mut stream in slow {
        let mut answer = vec![];
        let ended = tokio::time::timeout(Duration::from_secs(5), stream.read_to_end(&mut answer)).await;
        assert!(ended.is_ok(), "a slow client is still connected");
    }
}

/// Clients that announce large bodies and send one byte of them.
#[tokio::test]
async fn bodies_that_are_only_announced_take_nothing_from_others() {
    let collector = start(CollectorLimits::default(), None).await;
    let at = collector.url.strip_prefix("http://").unwrap().to_owned();
    let mut slow = vec![];
    for _ in 0..60 {
        let mut stream = tokio::net::TcpStream::connect(&at).await.unwrap();
        let head = format!("POST /v1/traces HTTP/1.1\r\nHost: {at}\r\nContent-Type: application/json\r\nContent-Length: 8000000\r\n\r\n{{");
        stream.write_all(head.as_bytes()).await.unwrap();
        slow.push(stream);
    }
    tokio::time::sleep(Duration::from_millis(300)).await;
    let large = request(1, 0..8_000);
    assert!(large.len() > 1 << 20, "{} bytes", large.len());
    let answer = collector.post(large, "application/json").await;
    assert_eq!(answer.status(), 200, "{}", answer.text().await.unwrap());
}

#[tokio::test]
async fn a_full_collector_asks_clients_to_come_again() {
    let limits = CollectorLimits { pending_bytes: 64 << 10, ..CollectorLimits::default() };
    let collector = start(limits, None).await;
    let answer = collector.post(request(0, 0..400), "application/json").await;
    assert_eq!((answer.status().as_u16(), answer.headers()["retry-after"].to_str().unwrap()), (429, "1"));
    assert_eq!(collector.store().span_count().unwrap(), 0);
    assert_served(&collector, 1).await;
}
