//! Collector over HTTP and gRPC.

use bardo_eval_serve::collector::{Access, BearerToken, Collector, CollectorLimits, CollectorMetrics, CollectorSettings, Redactor};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use store::production::{ProductionCounter, ProductionStore};
use tempfile::TempDir;

pub(crate) struct TestCollector {
    pub folder: TempDir,
    pub url: String,
    pub client: reqwest::Client,
    _collector: Collector,
}

pub(crate) fn now_ms() -> u64 {
    u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap()
}

pub(crate) async fn start(limits: CollectorLimits, token: Option<&str>) -> TestCollector {
    let _installed = rustls::crypto::ring::default_provider().install_default();
    let folder = tempfile::tempdir().unwrap();
    let settings = CollectorSettings {
        listen: vec!["127.0.0.1:0".parse().unwrap()],
        traces: folder.path().join("production.sqlite").into(),
        access: Access { token: token.map(|token| BearerToken::new(token).unwrap()), has_tls: false },
        tls: None,
        limits,
        redactor: Redactor::default(),
        metrics: CollectorMetrics::default(),
        clock: Arc::new(now_ms),
    };
    let collector = Collector::start(settings).await.unwrap();
    let url = format!("http://{}", collector.addresses()[0]);
    TestCollector { folder, url, client: reqwest::Client::new(), _collector: collector }
}

impl TestCollector {
    pub(crate) fn store(&self) -> ProductionStore {
        ProductionStore::open(self.folder.path().join("production.sqlite")).unwrap()
    }

    pub(crate) fn count(&self, counter: ProductionCounter) -> u64 {
        self.store().counters().unwrap().into_iter().find(|(found, _)| *found == counter).unwrap().1
    }

    pub(crate) async fn post(&self, body: impl Into<reqwest::Body>, kind: &str) -> reqwest::Response {
        self.client.post(format!("{}/v1/traces", self.url)).header("content-type", kind).body(body).send().await.unwrap()
    }
}

/// Returns a request with spans of one trace.
pub(crate) fn request(trace: u64, spans: std::ops::Range<u64>) -> String {
    let span = |n: u64| {
        json!({
            "traceId": format!("{:032x}", trace + 1), "spanId": format!("{:016x}", n + 1), "name": format!("execute_tool t{n}"),
            "parentSpanId": if n == 0 { String::new() } else { format!("{:016x}", 1) },
            "attributes": [{ "key": "gen_ai.tool.name", "value": { "stringValue": "quote" } }],
        })
    };
    let spans: Vec<Value> = spans.map(span).collect();
    json!({ "resourceSpans": [{ "scopeSpans": [{ "spans": spans }] }] }).to_string()
}

#[tokio::test]
async fn spans_are_durable_when_the_answer_arrives_and_repetitions_count_once() {
    let collector = start(CollectorLimits::default(), None).await;
    for _ in 0..3 {
        let answer = collector.post(request(0, 0..10), "application/json").await;
        assert_eq!((answer.status().as_u16(), answer.text().await.unwrap()), (200, "{}".to_owned()));
    }
    assert_eq!(collector.store().span_count().unwrap(), 10);
    assert_eq!(collector.count(ProductionCounter::SpansStored), 10);
    assert_eq!(collector.count(ProductionCounter::SpansRepeated), 20);
    let ready = collector.client.get(format!("{}/readyz", collector.url)).send().await.unwrap();
    assert_eq!(ready.status(), 200);
    let metrics = collector.client.get(format!("{}/metrics", collector.url)).send().await.unwrap().text().await.unwrap();
    assert!(metrics.contains("bardo_eval_spans_stored_total 10\n") && metrics.contains("bardo_eval_open_traces 1\n"), "{metrics}");
}

#[tokio::test]
async fn grpc_stores_spans_and_answers_with_a_status() {
    let collector = start(CollectorLimits::default(), Some("0123456789abcdef")).await;
    let (status, _) = grpc(&collector, &protobuf_request(), None).await;
    assert_eq!(status, "16", "no token");
    let (status, body) = grpc(&collector, &protobuf_request(), Some("Bearer 0123456789abcdef")).await;
    assert_eq!((status.as_str(), body), ("0", vec![0; 5]));
    assert_eq!(collector.store().span_count().unwrap(), 1);
    let (status, _) = grpc(&collector, b"no protobuf", Some("Bearer 0123456789abcdef")).await;
    assert_eq!(status, "3");
}

/// Returns a request with one span, in protobuf.
fn protobuf_request() -> Vec<u8> {
    let wrap = |field: u8, inner: &[u8]| [&[field << 3 | 2, u8::try_from(inner.len()).unwrap()], inner].concat();
    let span = [wrap(1, &[1; 16]), wrap(2, &[2; 8]), wrap(5, b"chat m")].concat();
    wrap(1, &wrap(2, &wrap(2, &span)))
}

/// Calls `Export` over HTTP/2 and returns the status and the body.
async fn grpc(collector: &TestCollector, message: &[u8], token: Option<&str>) -> (String, Vec<u8>) {
    let (trailers, body) = grpc_answer(collector, message, token).await;
    (trailers["grpc-status"].to_str().unwrap().to_owned(), body)
}

/// Calls `Export` over HTTP/2 and returns the trailers and the body.
async fn grpc_answer(collector: &TestCollector, message: &[u8], token: Option<&str>) -> (hyper::HeaderMap, Vec<u8>) {
    grpc_export(collector, message, &[("authorization", token)]).await
}

/// Calls `Export` with more headers. A message with an encoding is sent as a packed one.
pub(crate) async fn grpc_export(
    collector: &TestCollector,
    message: &[u8],
    headers: &[(&'static str, Option<&str>)],
) -> (hyper::HeaderMap, Vec<u8>) {
    use http_body_util::{BodyExt, Full};
    use hyper_util::rt::{TokioExecutor, TokioIo};
    let at = collector.url.strip_prefix("http://").unwrap();
    let stream = TokioIo::new(tokio::net::TcpStream::connect(at).await.unwrap());
    let (mut sender, connection) = hyper::client::conn::http2::handshake(TokioExecutor::new(), stream).await.unwrap();
    let driver = tokio::spawn(connection);
    let is_packed = headers.iter().any(|(name, value)| *name == "grpc-encoding" && value.is_some());
    let mut framed = vec![u8::from(is_packed)];
    framed.extend(u32::try_from(message.len()).unwrap().to_be_bytes());
    framed.extend(message);
    let mut request = hyper::Request::post(format!("{}/opentelemetry.proto.collector.trace.v1.TraceService/Export", collector.url))
        .header("content-type", "application/grpc")
        .header("te", "trailers");
    for (name, value) in headers {
        if let Some(value) = value {
            request = request.header(*name, *value);
        }
    }
    let response = sender.send_request(request.body(Full::<hyper::body::Bytes>::from(framed)).unwrap()).await.unwrap();
    assert_eq!(response.status(), 200);
    let collected = response.into_body().collect().await.unwrap();
    let trailers = collected.trailers().unwrap().clone();
    driver.abort();
    (trailers, collected.to_bytes().to_vec())
}

/// Decodes base64 without padding.
fn unbase64(text: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digit = |byte: u8| u32::try_from(DIGITS.iter().position(|known| *known == byte).unwrap()).unwrap();
    let bytes = |four: &[u8]| {
        let bits = four.iter().fold(0, |bits, byte| bits << 6 | digit(*byte)) << (6 * (4 - four.len()));
        bits.to_be_bytes()[1..four.len()].to_vec()
    };
    text.as_bytes().chunks(4).flat_map(bytes).collect()
}

#[tokio::test]
async fn a_busy_collector_tells_clients_of_grpc_and_http_when_to_retry() {
    let collector = start(CollectorLimits { pending_bytes: 0, ..CollectorLimits::default() }, None).await;
    let (trailers, body) = grpc_answer(&collector, &protobuf_request(), None).await;
    assert_eq!((trailers["grpc-status"].to_str().unwrap(), body), ("8", vec![]), "RESOURCE_EXHAUSTED");
    // google.rpc.Status: code 8, a message, and an Any with RetryInfo whose delay is one second.
    let status = unbase64(trailers["grpc-status-details-bin"].to_str().unwrap());
    let wrap = |field: u8, inner: &[u8]| [&[field << 3 | 2, u8::try_from(inner.len()).unwrap()], inner].concat();
    let retry = wrap(1, &[1 << 3, 1]);
    let any = [wrap(1, b"type.googleapis.com/google.rpc.RetryInfo"), wrap(2, &retry)].concat();
    assert_eq!(status, [vec![1 << 3, 8], wrap(2, b"busy"), wrap(3, &any)].concat());
    let answer = collector.post(request(0, 0..1), "application/json").await;
    assert_eq!((answer.status().as_u16(), answer.headers()["retry-after"].to_str().unwrap()), (429, "1"));
    assert_eq!(collector.store().span_count().unwrap(), 0, "nothing is stored without an answer of 200");
}

#[tokio::test]
async fn clients_that_ask_first_get_the_refusal_before_they_send() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let collector = start(CollectorLimits::default(), None).await;
    let mut stream = tokio::net::TcpStream::connect(collector.url.strip_prefix("http://").unwrap()).await.unwrap();
    let head = "POST /v1/traces HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\nexpect: 100-continue\r\ncontent-length: 104857600\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = [0; 12];
    tokio::time::timeout(std::time::Duration::from_secs(5), stream.read_exact(&mut answer)).await.unwrap().unwrap();
    assert_eq!(&answer, b"HTTP/1.1 413");
}

#[tokio::test]
async fn secrets_never_reach_the_file() {
    let collector = start(CollectorLimits::default(), None).await;
    let secret = "4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318";
    let body = json!({ "resourceSpans": [{ "scopeSpans": [{ "spans": [{
        "traceId": "0af7651916cd43dd8448eb211c80319c", "spanId": "b7ad6b7169203331", "name": format!("import private key: {secret}"),
        "attributes": [
            { "key": "gen_ai.tool.call.arguments", "value": { "stringValue": format!("{{\"private_key\":\"{secret}\"}}") } },
            { "key": "http.request.header.authorization", "value": { "stringValue": secret } },
        ],
        "events": [
            { "name": "note", "attributes": [{ "key": "text", "value": { "stringValue": format!("wallet key = {secret}") } }] },
            { "name": "note", "attributes": [{ "key": "output.value", "value": { "stringValue": format!("0x{secret}") } }] },
        ],
    }] }] }] });
    assert_eq!(collector.post(body.to_string(), "application/json").await.status(), 200);
    drop(collector.store());
    for file in std::fs::read_dir(collector.folder.path()).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        assert!(!bytes.windows(secret.len()).any(|window| window == secret.as_bytes()));
    }
}

#[tokio::test]
async fn an_address_for_other_machines_needs_tls_and_a_token() {
    let settings = CollectorSettings {
        listen: vec!["0.0.0.0:0".parse().unwrap()],
        traces: std::path::Path::new("never-created.sqlite").into(),
        access: Access::default(),
        tls: None,
        limits: CollectorLimits::default(),
        redactor: Redactor::default(),
        metrics: CollectorMetrics::default(),
        clock: Arc::new(|| 0),
    };
    let error = Collector::start(settings).await.unwrap_err();
    assert!(error.to_string().contains("needs TLS"), "{error}");
    assert!(!std::path::Path::new("never-created.sqlite").exists());
}
