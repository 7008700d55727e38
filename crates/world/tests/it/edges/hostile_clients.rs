//! Hostile clients: each is refused, and the next honest client is served.

use std::time::{Duration, Instant};

use bardo_eval_world::World;
use bardo_eval_world::endpoints::TrialEndpoints;
use proptest::prelude::*;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::edges::CLIENT_TIMEOUT;
use crate::edges::http::{exchange, http_request, rpc_request, socket_addr};
use crate::edges::small::{SmallWorld, as_shared, toolset};

async fn assert_still_up(edges: &TrialEndpoints) {
    let answer = rpc_request(edges, 1, &json!({ "jsonrpc": "2.0", "id": 9, "method": "eth_chainId", "params": [] }).to_string()).await;
    assert_eq!(answer, json!({ "jsonrpc": "2.0", "id": 9, "result": "0x1" }));
}

#[tokio::test]
async fn invalid_rpc_bodies_get_json_rpc_codes() {
    let world = SmallWorld::shared().await;
    let edges = TrialEndpoints::open("trial", as_shared(&world), toolset()).await.unwrap();
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let many = format!("[{}]", vec!["{}"; 101].join(","));
    let flood = format!("[{}0]", "0,".repeat(400_000));
    for (body, code) in [
        ("", -32700),
        ("garbage", -32700),
        ("{\"jsonrpc\":", -32700),
        ("\u{0}\u{1}\u{2}", -32700),
        (deep.as_str(), -32700),
        ("[]", -32600),
        (many.as_str(), -32600),
        (flood.as_str(), -32600),
        ("1", -32600),
        ("null", -32600),
        ("{\"jsonrpc\":\"2.0\",\"method\":\"eth_chainId\"}", -32600),
        ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"eth_nothing\"}", -32601),
        ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"eth_getBalance\"}", -32602),
        ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"eth_sendRawTransaction\",\"params\":[\"0x02\"]}", -32602),
    ] {
        let answer = rpc_request(&edges, 1, body).await;
        assert_eq!(answer["error"]["code"], code, "{}: {answer}", &body[..body.len().min(60)]);
    }
    assert_still_up(&edges).await;
    assert_eq!(world.lock().await.take_events(), []);
}

#[tokio::test]
async fn rpc_batch_answers_in_order() {
    let world = SmallWorld::shared().await;
    let edges = TrialEndpoints::open("trial", as_shared(&world), toolset()).await.unwrap();
    let batch = json!([
        { "jsonrpc": "2.0", "id": 1, "method": "eth_chainId" },
        7,
        { "jsonrpc": "2.0", "id": "b", "method": "eth_unknown" },
        { "jsonrpc": "2.0", "id": 3, "method": "net_version" },
    ]);
    let answers = rpc_request(&edges, 8453, &batch.to_string()).await;
    assert_eq!(answers[0], json!({ "jsonrpc": "2.0", "id": 1, "result": "0x2105" }));
    assert_eq!((&answers[1]["id"], &answers[1]["error"]["code"]), (&Value::Null, &json!(-32600)));
    assert_eq!((&answers[2]["id"], &answers[2]["error"]["code"]), (&json!("b"), &json!(-32601)));
    assert_eq!(answers[3]["result"], "8453");
}

#[tokio::test]
async fn ten_megabyte_body_is_refused_on_every_endpoint() {
    let world = SmallWorld::shared().await;
    let edges = TrialEndpoints::open("trial", as_shared(&world), toolset()).await.unwrap();
    let big = format!("\"{}\"", "x".repeat(10 * 1024 * 1024));
    let bearer = format!(
        "Authorization: Bearer {}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n",
        edges.token.as_str()
    );
    let rpc_path = edges.rpc_url(1).replace(&edges.url, "");
    assert_eq!(http_request(socket_addr(&edges), "POST", &rpc_path, "", &big).await.0, 413);
    assert_eq!(http_request(socket_addr(&edges), "POST", "/mcp/trial", &bearer, &big).await.0, 413);
    // Endless chunked body: cut off, not buffered.
    let head = format!("POST {rpc_path} HTTP/1.1\r\nHost: {}\r\nTransfer-Encoding: chunked\r\n\r\n", socket_addr(&edges));
    let chunk = format!("100000\r\n{}\r\n", "y".repeat(0x10_0000));
    let endless = async {
        let mut stream = TcpStream::connect(socket_addr(&edges)).await.unwrap();
        stream.write_all(head.as_bytes()).await.unwrap();
        for sent in 0.. {
            if stream.write_all(chunk.as_bytes()).await.is_err() {
                return sent;
            }
        }
        0
    };
    let sent = tokio::time::timeout(CLIENT_TIMEOUT, endless).await.expect("the endless body was not cut off");
    assert!(sent < 64, "{sent} MB were read");
    // An oversized head, and an absurd content length.
    let long = format!("GET / HTTP/1.1\r\nHost: {}\r\nX: {}\r\n\r\n", socket_addr(&edges), "z".repeat(1024 * 1024));
    assert!(matches!(exchange(socket_addr(&edges), long.as_bytes()).await.0, 0 | 400 | 431));
    let lie = format!("POST {rpc_path} HTTP/1.1\r\nHost: {}\r\nContent-Length: 99999999999\r\n\r\n", socket_addr(&edges));
    assert_eq!(exchange(socket_addr(&edges), lie.as_bytes()).await.0, 413);
    assert_still_up(&edges).await;
}

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "the test measures real time")]
async fn slow_clients_time_out_without_blocking_others() {
    let world = SmallWorld::shared().await;
    let edges = TrialEndpoints::open("trial", as_shared(&world), toolset()).await.unwrap();
    let rpc_path = edges.rpc_url(1).replace(&edges.url, "");
    let starts = [
        String::new(),
        "P".to_owned(),
        format!("POST {rpc_path} HTTP/1.1\r\nHost: {}\r\nX-Slow: ", socket_addr(&edges)),
        format!("POST {rpc_path} HTTP/1.1\r\nHost: {}\r\nContent-Length: 1000\r\n\r\n{{", socket_addr(&edges)),
    ];
    let began = Instant::now();
    let mut slow = vec![];
    for start in starts.iter().cycle().take(60) {
        let (start, home) = (start.clone(), socket_addr(&edges));
        slow.push(tokio::spawn(async move {
            let mut stream = TcpStream::connect(home).await.unwrap();
            let _ = stream.write_all(start.as_bytes()).await;
            let (mut read, mut write) = stream.into_split();
            // One byte at intervals, so that the connection is never idle.
            let dripping = tokio::spawn(async move {
                while !start.is_empty() && write.write_all(b"a").await.is_ok() {
                    tokio::time::sleep(Duration::from_millis(500)).await;
                }
                tokio::time::sleep(CLIENT_TIMEOUT).await;
            });
            let mut reply = Vec::new();
            let _ = read.read_to_end(&mut reply).await;
            dripping.abort();
            String::from_utf8_lossy(&reply).into_owned()
        }));
    }
    // Other clients are served meanwhile.
    for _ in 0..20 {
        assert_still_up(&edges).await;
    }
    assert!(began.elapsed() < Duration::from_secs(8), "slow clients delayed the others");
    for (at, one) in slow.into_iter().enumerate() {
        let reply = tokio::time::timeout(Duration::from_secs(60), one).await.expect("the slow client was not disconnected").unwrap();
        if at % starts.len() == 3 {
            assert!(reply.starts_with("HTTP/1.1 408"), "{reply}");
        }
    }
    assert_still_up(&edges).await;
}

#[tokio::test]
async fn client_that_never_reads_is_disconnected() {
    let world = SmallWorld::shared().await;
    let edges = TrialEndpoints::open("trial", as_shared(&world), toolset()).await.unwrap();
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "price", "arguments": { "token": "x".repeat(1024 * 1024) } } });
    let call = call.to_string();
    let request = format!(
        "POST /mcp/trial HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: {}\r\n\r\n{call}",
        socket_addr(&edges),
        edges.token.as_str(),
        call.len()
    );
    let mut stream = TcpStream::connect(socket_addr(&edges)).await.unwrap();
    let asking = async { while stream.write_all(request.as_bytes()).await.is_ok() {} };
    tokio::time::timeout(Duration::from_secs(60), asking).await.expect("the client was not disconnected");
    assert_still_up(&edges).await;
}

#[tokio::test]
async fn mcp_over_http_survives_hostile_requests() {
    let world = SmallWorld::shared().await;
    let edges = TrialEndpoints::open("trial", as_shared(&world), toolset()).await.unwrap();
    let kind = "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n";
    let headers = format!("Authorization: Bearer {}\r\n{kind}", edges.token.as_str());
    let deep = format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{}", "{\"a\":".repeat(10_000));
    for garbage in ["", "garbage", "{", "[]", "[1,2]", "{\"jsonrpc\":\"2.0\"}", "null", deep.as_str()] {
        let (status, reply) = http_request(socket_addr(&edges), "POST", "/mcp/trial", &headers, garbage).await;
        assert!((400..500).contains(&status), "{garbage:.40}: {reply}");
    }
    for (arguments, code) in [("[]", 400..500), ("7", 400..500)] {
        let body = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{{\"name\":\"price\",\"arguments\":{arguments}}}}}"
        );
        let (status, reply) = http_request(socket_addr(&edges), "POST", "/mcp/trial", &headers, &body).await;
        assert!(code.contains(&status) || reply.contains("\"error\""), "{arguments}: {reply}");
    }
    for method in ["GET", "DELETE", "PUT", "OPTIONS"] {
        assert_eq!(http_request(socket_addr(&edges), method, "/mcp/trial", &headers, "").await.0, 405, "{method}");
    }
    assert_still_up(&edges).await;
    assert_eq!(world.lock().await.take_events(), []);
}

#[tokio::test]
async fn hostile_typed_data_is_refused_in_time() {
    let world = SmallWorld::shared().await;
    let edges = TrialEndpoints::open("trial", as_shared(&world), toolset()).await.unwrap();
    let own = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
    let sign = |signer: &str, data: Value| json!({ "jsonrpc": "2.0", "id": 1, "method": "eth_signTypedData_v4", "params": [signer, data] });
    let circle = json!({ "types": { "EIP712Domain": [], "A": [{ "name": "b", "type": "B" }], "B": [{ "name": "a", "type": "A" }] },
        "primaryType": "A", "domain": {}, "message": { "b": { "a": {} } } });
    // Each struct refers to the next twice, so the size doubles at every level.
    let mut types = json!({ "EIP712Domain": [] });
    for n in 0..200 {
        let next = format!("T{}", n + 1);
        types[format!("T{n}")] = json!([{ "name": "x", "type": next.clone() }, { "name": "y", "type": next }]);
    }
    types["T200"] = json!([]);
    let doubling = json!({ "types": types, "primaryType": "T0", "domain": {}, "message": {} });
    let vast = json!({ "types": { "EIP712Domain": [], "A": [{ "name": "l", "type": "uint8[4000000000]" }] }, "primaryType": "A", "domain": {}, "message": { "l": [1] } });
    let absent = json!({ "types": { "EIP712Domain": [] }, "primaryType": "Nothing", "domain": {}, "message": {} });
    let long = json!({ "types": {}, "primaryType": "A", "domain": {}, "message": { "x": "y".repeat(70_000) } });
    for (what, data) in [
        ("circle", circle),
        ("doubling", doubling),
        ("vast", vast),
        ("absent", absent),
        ("long", long),
        ("none", json!(null)),
        ("text", json!("{")),
    ] {
        let answer = tokio::time::timeout(Duration::from_secs(30), rpc_request(&edges, 1, &sign(own, data).to_string())).await.expect(what);
        assert_eq!(answer["error"]["code"], -32602, "{what}: {answer}");
    }
    let fine = json!({ "types": { "EIP712Domain": [], "A": [{ "name": "x", "type": "uint8" }] }, "primaryType": "A", "domain": {}, "message": { "x": 1 } });
    assert_eq!(
        rpc_request(&edges, 1, &sign("0x70997970C51812dc3A010C7d01b50e0d17dc79C8", fine.clone()).to_string()).await["error"]["code"],
        -32000
    );
    assert_eq!(world.lock().await.take_events(), []);
    // JSON text is accepted too; clients use both forms.
    assert!(rpc_request(&edges, 1, &sign(own, fine.to_string().into()).to_string()).await["result"].is_string());
    assert_eq!(crate::edges::event_kinds(&world.lock().await.take_events()), ["signed"]);
}

const METHODS: &[&str] = &[
    "eth_chainId",
    "eth_accounts",
    "eth_blockNumber",
    "eth_getBlockByNumber",
    "eth_getBlockByHash",
    "eth_getBalance",
    "eth_getTransactionCount",
    "eth_getCode",
    "eth_getStorageAt",
    "eth_call",
    "eth_estimateGas",
    "eth_feeHistory",
    "eth_getTransactionReceipt",
    "eth_getTransactionByHash",
    "eth_getLogs",
    "eth_sendRawTransaction",
    "eth_sendTransaction",
    "eth_signTransaction",
    "eth_sign",
    "personal_sign",
    "eth_signTypedData_v4",
];

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        "\\PC{0,12}".prop_map(Value::from),
        "0x[0-9a-f]{0,80}".prop_map(Value::from),
        Just(json!("latest")),
        Just(json!("0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266")),
        Just(json!("0xffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff")),
    ];
    let key = prop::sample::select(vec![
        "from",
        "to",
        "value",
        "data",
        "gas",
        "nonce",
        "chainId",
        "fromBlock",
        "toBlock",
        "topics",
        "address",
        "types",
        "primaryType",
        "domain",
        "message",
    ]);
    leaf.prop_recursive(3, 24, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(key.clone().prop_map(str::to_owned), inner, 0..5).prop_map(|map| json!(map)),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// Any parameters to any method give a result or an error code and never stop the server.
    #[test]
    fn rpc_answers_any_params_to_any_method(jobs in prop::collection::vec((prop::sample::select(METHODS), prop::collection::vec(value(), 0..4)), 1..60)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let world = SmallWorld::shared().await;
            let edges = TrialEndpoints::open("trial", as_shared(&world), toolset()).await.unwrap();
            let batch: Vec<Value> = jobs.iter().enumerate().map(|(id, (method, params))| json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).collect();
            let answers = rpc_request(&edges, 1, &json!(batch).to_string()).await;
            let answers = answers.as_array().expect("a batch");
            assert_eq!(answers.len(), batch.len());
            for (id, answer) in answers.iter().enumerate() {
                assert_eq!(answer["id"], id);
                let known = answer.get("result").is_some() || matches!(answer["error"]["code"].as_i64(), Some(-32602 | -32000 | 3));
                assert!(known, "{} gives {answer}", batch[id]);
            }
            assert_still_up(&edges).await;
        });
    }
}
