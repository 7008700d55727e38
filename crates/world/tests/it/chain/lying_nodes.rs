//! Nodes that lie about transactions or break off: each answer is a failure to read, never effects that did not happen.

use alloy_primitives::{Address, B256};
use bardo_eval_world::chain::{AddressBook, AddressEntry, ChainReader, ObservedTransaction, ReadFailure};
use model::transcript::{Effect, TxOutcome};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

const PAYMENT: &str = include_str!("../../../../../fuzz/seeds/node_replies/payment.jsonl");
const PAYMENT_WITHOUT_TRACES: &str = include_str!("../../../../../fuzz/seeds/node_replies/payment_without_traces.jsonl");
const TOKEN: &str = include_str!("../../../../../fuzz/seeds/node_replies/token.jsonl");
const REVERTED: &str = include_str!("../../../../../fuzz/seeds/node_replies/reverted.jsonl");

const WALLET: &str = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
const PAYEE: &str = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";
const USDC: &str = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";

/// Places of the replies.
const CHAIN_ID: usize = 0;
const TRANSACTION: usize = 1;
const RECEIPT: usize = 2;
const BLOCK: usize = 3;
const TRACE: usize = 4;
const BALANCE_BEFORE: usize = 5;
const BALANCE_AFTER: usize = 6;

/// The same as a good answer to `eth_chainId`, compressed. No compression was asked for.
const GZIPPED: &[u8] = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xab\x56\xca\x2a\xce\xcf\x2b\x2a\x48\x56\xb2\x52\x32\xd2\x33\x50\xd2\x51\xca\x4c\x51\xb2\x32\xd4\x51\x2a\x4a\x2d\x2e\xcd\x29\x01\x8a\x1a\x54\x18\x19\x1a\x98\x2a\xd5\x02\x00\x12\xd8\x26\xb1\x2a\x00\x00\x00";

fn book() -> AddressBook {
    let mut book = AddressBook::new(8453);
    let entry = |name: &str| AddressEntry { name: name.to_owned(), ..AddressEntry::default() };
    book.add(Address::ZERO, AddressEntry { asset: Some(("ETH".to_owned(), 18)), ..entry("ETH") });
    book.add(USDC.parse().unwrap(), AddressEntry { asset: Some(("USDC".to_owned(), 6)), ..entry("USDC") });
    book.add(WALLET.parse().unwrap(), AddressEntry { own: true, ..entry("wallet") });
    book
}

fn recorded(seed: &str) -> (B256, Vec<Value>) {
    let (hash, replies) = seed.split_once('\n').unwrap();
    (hash.parse().unwrap(), replies.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

/// Reads recorded replies after an edit.
fn read(seed: &str, edit: impl Fn(&mut [Value])) -> Result<ObservedTransaction, ReadFailure> {
    let (hash, mut replies) = recorded(seed);
    edit(&mut replies);
    let bodies = replies.iter().map(|reply| reply.to_string().into_bytes()).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(ChainReader::with_replies(book(), bodies).read(hash))
}

fn own_loss(read: &ObservedTransaction) -> Option<(String, String)> {
    read.mined.effects.iter().find_map(|effect| {
        let Effect::Balance { holder, before, after, .. } = effect else { return None };
        holder.own.then(|| (before.clone(), after.clone()))
    })
}

#[test]
fn honest_replies_are_read() {
    let paid = read(PAYMENT, |_| {}).unwrap();
    assert_eq!((paid.mined.value.as_str(), paid.block, paid.mined.outcome.clone()), ("10000000000000000", 1, TxOutcome::Success));
    assert!(own_loss(&paid).is_some());
    let balances = read(PAYMENT_WITHOUT_TRACES, |_| {}).unwrap();
    assert_eq!(balances.mined.value, paid.mined.value);
    assert!(own_loss(&balances).is_some());
    let token = read(TOKEN, |_| {}).unwrap();
    assert!(token.mined.effects.iter().any(|effect| matches!(effect, Effect::Balance { before, after, holder, .. }
        if holder.own && before == "25000000" && after == "0")));
    assert!(matches!(read(REVERTED, |_| {}).unwrap().mined.outcome, TxOutcome::Reverted { .. }));
}

/// Edits a member of the result of a reply.
fn set(replies: &mut [Value], reply: usize, member: &str, value: Value) {
    replies[reply]["result"][member] = value;
}

type ReplyEdit = fn(&mut [Value]);

#[test]
fn lies_are_refused_at_once() {
    let lies: &[(&str, &str, ReplyEdit)] = &[
        ("another transaction than the hash", PAYMENT, |r| set(r, TRANSACTION, "value", json!("0x1"))),
        ("another transaction than the hash", PAYMENT, |r| set(r, TRANSACTION, "nonce", json!("0x7"))),
        ("in a way that cannot be read", PAYMENT, |r| set(r, TRANSACTION, "value", json!(format!("0x{}", "f".repeat(65))))),
        ("in a way that cannot be read", PAYMENT, |r| set(r, TRANSACTION, "gas", json!("0x10000000000000000"))),
        ("receipt is that of another", PAYMENT, |r| set(r, RECEIPT, "transactionHash", json!(B256::repeat_byte(0x11)))),
        ("receipt is that of another", PAYMENT, |r| set(r, RECEIPT, "from", json!(PAYEE))),
        ("receipt is that of another", PAYMENT, |r| set(r, RECEIPT, "to", json!(WALLET))),
        ("receipt is that of another", PAYMENT, |r| set(r, RECEIPT, "to", Value::Null)),
        ("unknown status", PAYMENT, |r| set(r, RECEIPT, "status", json!("0x2"))),
        ("failed and has logs", TOKEN, |r| set(r, RECEIPT, "status", json!("0x0"))),
        ("lacks the event", TOKEN, |r| set(r, RECEIPT, "logs", json!([]))),
        ("lacks the event", TOKEN, |r| r[RECEIPT]["result"]["logs"][0]["data"] = json!(B256::with_last_byte(1))),
        ("lacks the event", TOKEN, |r| r[RECEIPT]["result"]["logs"][0]["address"] = json!(PAYEE)),
        // An event without parties, one of a gain instead of the payment, and a gain beside the payment.
        ("lacks the event", TOKEN, |r| r[RECEIPT]["result"]["logs"][0]["topics"].as_array_mut().unwrap().truncate(1)),
        ("lacks the event", TOKEN, |r| r[RECEIPT]["result"]["logs"][0]["topics"].as_array_mut().unwrap().swap(1, 2)),
        ("does not cause", TOKEN, |r| {
            let logs = r[RECEIPT]["result"]["logs"].as_array_mut().unwrap();
            let mut gain = logs[0].clone();
            gain["topics"].as_array_mut().unwrap().swap(1, 2);
            logs.push(gain);
        }),
        ("logs of another transaction", TOKEN, |r| r[RECEIPT]["result"]["logs"][0]["transactionHash"] = json!(B256::repeat_byte(1))),
        ("impossible logs", TOKEN, |r| r[RECEIPT]["result"]["logs"][0]["topics"] = json!(vec![B256::ZERO; 5])),
        ("more gas than", PAYMENT, |r| set(r, RECEIPT, "gasUsed", json!("0xffffffffffffffff"))),
        ("more gas than", PAYMENT, |r| set(r, RECEIPT, "effectiveGasPrice", json!("0xffffffffffffffffffffffffffffffff"))),
        ("receipt cannot be read", PAYMENT, |r| set(r, RECEIPT, "gasUsed", json!("0x10000000000000000"))),
        ("receipt cannot be read", PAYMENT, |r| set(r, RECEIPT, "status", Value::Null)),
        ("receipt cannot be read", PAYMENT, |r| set(r, RECEIPT, "logs", json!({}))),
        ("does not list it", PAYMENT, |r| set(r, BLOCK, "transactions", json!([]))),
        ("does not list it", PAYMENT, |r| set(r, BLOCK, "number", json!("0x9"))),
        ("impossible time", PAYMENT, |r| set(r, BLOCK, "timestamp", json!("0xffffffffffffffff"))),
        ("cannot be read", PAYMENT, |r| set(r, BLOCK, "timestamp", json!("soon"))),
        ("trace is that of another", PAYMENT, |r| r[TRACE]["result"] = json!({ "pre": {}, "post": {} })),
        ("trace is that of another", PAYMENT, |r| r[TRACE]["result"]["post"][WALLET.to_lowercase()]["nonce"] = json!(0)),
        ("cannot be read", PAYMENT, |r| r[TRACE]["result"] = json!({ "pre": [], "post": 7 })),
        ("trace and receipt disagree", REVERTED, |r| r[5]["result"]["error"] = Value::Null),
    ];
    for (expected, seed, lie) in lies {
        match read(seed, lie) {
            Err(ReadFailure::Wrong(why)) => assert!(why.contains(expected), "{expected}: {why}"),
            read => panic!("{expected}: {read:?}"),
        }
    }
}

#[test]
fn answers_that_may_change_are_asked_for_again() {
    let odd: &[(&str, &str, ReplyEdit)] = &[
        ("serves chain", PAYMENT, |r| r[CHAIN_ID]["result"] = json!("0x1")),
        ("does not know", PAYMENT, |r| r[TRANSACTION]["result"] = Value::Null),
        ("not in a block yet", PAYMENT, |r| set(r, TRANSACTION, "blockHash", Value::Null)),
        ("no receipt", PAYMENT, |r| r[RECEIPT]["result"] = Value::Null),
        ("different blocks", PAYMENT, |r| set(r, RECEIPT, "blockHash", json!(B256::repeat_byte(7)))),
        ("no longer part", PAYMENT, |r| set(r, BLOCK, "hash", json!(B256::repeat_byte(7)))),
        ("does not have its block", PAYMENT, |r| r[BLOCK]["result"] = Value::Null),
        ("removed from the chain", TOKEN, |r| r[RECEIPT]["result"]["logs"][0]["removed"] = json!(true)),
        ("another id", PAYMENT, |r| r[RECEIPT]["id"] = json!(99)),
        ("neither result nor error", PAYMENT, |r| r[RECEIPT] = json!({ "id": 3 })),
        ("rate limited", PAYMENT, |r| r[RECEIPT] = json!({ "id": 3, "error": { "code": -32005, "message": "rate limited" } })),
        ("another id", PAYMENT, |r| r[RECEIPT] = json!([])),
    ];
    for (expected, seed, edit) in odd {
        match read(seed, edit) {
            Err(ReadFailure::Later(why)) => assert!(why.contains(expected), "{expected}: {why}"),
            read => panic!("{expected}: {read:?}"),
        }
    }
}

/// A node without traces that hides the payment in its balances: the signature proves what was sent.
#[test]
fn balances_cannot_hide_the_value_of_a_signed_payment() {
    for (before, after) in [("0x0", "0x0"), ("0xde0b6b3a7640000", "0xde0b6b3a7640000"), ("0x0", "0xde0b6b3a7640000")] {
        let paid = read(PAYMENT_WITHOUT_TRACES, |replies| {
            replies[BALANCE_BEFORE]["result"] = json!(before);
            replies[BALANCE_AFTER]["result"] = json!(after);
        });
        let (before, after) = own_loss(&paid.unwrap()).unwrap();
        let (before, after): (u128, u128) = (before.parse().unwrap(), after.parse().unwrap());
        assert!(before - after >= 10_000_000_000_000_000, "{before} {after}");
    }
}

/// Serves the same bytes to every request, after a pause.
async fn serve(answer: Vec<u8>, pause: Duration) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let answer = answer.clone();
            tokio::spawn(async move {
                let mut request = [0; 4096];
                let _ = stream.read(&mut request).await;
                tokio::time::sleep(pause).await;
                let _ = stream.write_all(&answer).await;
            });
        }
    });
    url
}

fn response(head: &str, body: &[u8]) -> Vec<u8> {
    [format!("HTTP/1.1 {head}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len()).as_bytes(), body].concat()
}

#[tokio::test]
async fn broken_transport_is_never_an_answer() {
    let good = br#"{"jsonrpc":"2.0","id":1,"result":"0x2105"}"#;
    let elsewhere = serve(response("200 OK", good), Duration::ZERO).await;
    let cases = [
        ("longer than 8 MiB", response("200 OK", &vec![b' '; 20 << 20]), Duration::ZERO),
        ("HTTP status 302", response(&format!("302 Found\r\nlocation: {elsewhere}"), b""), Duration::ZERO),
        ("HTTP status 307", response(&format!("307 Temporary Redirect\r\nlocation: {elsewhere}"), b""), Duration::ZERO),
        ("HTTP status 503", response("503 Busy", good), Duration::ZERO),
        ("it answered", response("200 OK\r\ncontent-encoding: gzip", GZIPPED), Duration::ZERO),
        ("it answered", response("200 OK", &"[".repeat(1 << 20).into_bytes()), Duration::ZERO),
        ("it answered", response("200 OK", b"\xff\xfe\x00"), Duration::ZERO),
        ("", b"HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n{\"json".to_vec(), Duration::ZERO),
        ("no answer within", response("200 OK", good), Duration::from_secs(30)),
    ];
    let hash = recorded(PAYMENT).0;
    for (expected, answer, pause) in cases {
        let url = serve(answer, pause).await;
        let mut reader = ChainReader::new(book(), &url, Duration::from_secs(1)).unwrap();
        match reader.read(hash).await {
            Err(ReadFailure::Later(why)) => assert!(why.contains(expected) && why.len() < 1000, "{expected}: {why}"),
            read => panic!("{expected}: {read:?}"),
        }
    }
}
