//! Receipts from a real node: effects count, and a trace that lies about them meets no gate.

use super::collecting::{CollectProcess, write_trace};
use crate::harness::TestFolder;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use world::chain::AnvilConfig;

/// First two accounts of Anvil, for which it has the keys.
pub(super) const WALLET: &str = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
pub(super) const STRANGER: &str = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const PAYEE: &str = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";

/// Node of Base that mines at once and signs for its accounts; ends with the test.
pub(crate) struct BaseNode {
    child: Child,
    pub at: String,
}

impl Drop for BaseNode {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl BaseNode {
    pub(crate) fn start() -> Self {
        let tools = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../.tools");
        let program = AnvilConfig { tools: Some(tools), ..AnvilConfig::new(8453, 0) }.find().unwrap_or_else(|error| panic!("{error}"));
        let mut command = Command::new(program);
        command.args(["--chain-id", "8453", "--port", "0"]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let at = loop {
            let line = lines.next().expect("the node ended").unwrap();
            if let Some(at) = line.strip_prefix("Listening on ") {
                break at.trim().to_owned();
            }
        };
        // The pipe must not fill up.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, at }
    }

    fn ask(&self, method: &str, params: Value) -> Value {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
        let mut stream = TcpStream::connect(&self.at).unwrap();
        let head = "POST / HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\nconnection: close\r\n";
        stream.write_all(format!("{head}content-length: {}\r\n\r\n{body}", body.len()).as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let json = &answer[answer.find('{').unwrap()..=answer.rfind('}').unwrap()];
        let reply: Value = serde_json::from_str(json).unwrap();
        assert!(reply.get("error").is_none(), "{method}: {reply}");
        reply["result"].clone()
    }

    /// Sends ether and returns the hash.
    pub(super) fn send(&self, from: &str, milliether: u128) -> String {
        let value = format!("{:#x}", milliether * 1_000_000_000_000_000);
        let tx = json!({ "from": from, "to": PAYEE, "value": value, "gas": "0x5208" });
        self.ask("eth_sendTransaction", json!([tx])).as_str().unwrap().to_owned()
    }
}

/// Workspace with gates on effects, whose agents own the wallet.
pub(super) fn folder() -> TestFolder {
    let folder = TestFolder::with_reference();
    folder.write("evals/production.yaml", format!("{}wallets: [\"{WALLET}\"]\n", super::KEEP_ALL));
    let gates = folder.read("evals/gates.yaml");
    let at = gates.find("scorer: spending_limit").expect("a gate on spending");
    let line = at + gates[at..].find("    tiers:").unwrap();
    folder.write("evals/gates.yaml", format!("{}    window: 24h\n{}", &gates[..line], &gates[line..]));
    folder
}

/// Returns the readings of a stored trace by scorer, and its facts.
pub(super) fn stored(folder: &TestFolder, n: u64) -> (std::collections::BTreeMap<String, Value>, Value) {
    let file = rusqlite::Connection::open(folder.path(".bardo-eval/production.sqlite")).unwrap();
    let id = u128::from(n + 1).to_be_bytes();
    let (scores, facts): (String, String) =
        file.query_row("SELECT scores, facts FROM traces WHERE trace = ?1", [&id[..]], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let scores: Vec<Value> = serde_json::from_str(&scores).unwrap();
    let named = |score: &Value| (score["scorer"].as_str().unwrap().to_owned(), score["reading"]["tally"].clone());
    (scores.iter().map(named).collect(), serde_json::from_str(&facts).unwrap())
}

#[test]
fn effects_come_from_the_chain_and_outrank_claims() {
    let (folder, node) = (folder(), BaseNode::start());
    let rpc = format!("8453=http://{}", node.at);
    // 0: a small payment. 1: one far above the limit of a transaction, which its arguments call small. 2: the payment of another wallet.
    // 3: a hash that no chain knows. 4: a write that names no transaction.
    let hashes = [node.send(WALLET, 10), node.send(WALLET, 900_000), node.send(STRANGER, 10), format!("0x{}", "ab".repeat(32))];
    let collector = CollectProcess::start(&folder, &["--rpc", &rpc]);
    for (n, hash) in (0..).zip(&hashes) {
        assert_eq!(collector.post(&write_trace(n, json!({ "status": "success", "tx_hash": hash }))).0, 200);
    }
    assert_eq!(collector.post(&write_trace(4, json!({ "status": "success" }))).0, 200);
    collector.wait_for_kept(5);
    collector.wait_for("bardo_eval_receipts_decoded_total 3\n");
    collector.wait_for("bardo_eval_receipts_failed_total 1\n");
    drop(collector);
    let (scores, facts) = stored(&folder, 0);
    assert_eq!((&scores["spending_limit"], &facts["decoded_transactions"]), (&json!({ "hit": 1, "of": 1 }), &json!(1)));
    assert_eq!(scores["safety_pipeline"], json!({ "hit": 0, "of": 1 }), "no guardian approved what was signed");
    assert_eq!(stored(&folder, 1).0["spending_limit"], json!({ "hit": 0, "of": 1 }));
    let (scores, facts) = stored(&folder, 2);
    assert_eq!(scores["spending_limit"], json!({ "hit": 0, "of": 1 }), "the transaction of a stranger");
    assert!(facts["contradictions"][0].as_str().unwrap().contains("touches no wallet"), "{facts}");
    for n in [3, 4] {
        let (scores, facts) = stored(&folder, n);
        assert_eq!(scores["spending_limit"], Value::Null, "{n} cannot be scored: {facts}");
        assert_eq!(facts["undecoded"].as_array().unwrap().len(), 1, "{facts}");
    }
    let report: Value = serde_json::from_str(&folder.run(&["watch", "--once", "--format", "json"]).assert_exit(1).stdout).unwrap();
    assert_eq!(report["transactions"]["decoded"], 2, "{:#}", report["transactions"]);
    assert_eq!(report["transactions"]["undecoded_traces"], 2);
    let limit = report["verdicts"].as_array().unwrap().iter().find(|verdict| verdict["scorer"] == "spending_limit").unwrap();
    assert_eq!((&limit["verdict"], &limit["traces"]), (&json!("missed"), &json!(3)));
}

#[test]
fn nodes_need_wallets_and_keep_their_keys_in_the_environment() {
    let folder = TestFolder::with_reference();
    let refused = |args: &[&str], code: i32| folder.run(&[&["collect", "--listen", "127.0.0.1:0"], args].concat()).assert_exit(code);
    refused(&["--rpc", "8453=http://127.0.0.1:1"], 2).assert_stderr("an RPC needs wallets");
    refused(&["--rpc", "8453=https://user:word@node.example"], 2).assert_stderr("carries a user, a query or a key");
    refused(&["--rpc", "base=http://127.0.0.1:1"], 2).assert_stderr("a chain is a number");
    folder.write("evals/production.yaml", format!("wallets: [\"{WALLET}\"]\nrpc: {{ 8453: env:NO_SUCH_VARIABLE }}\n"));
    refused(&[], 2).assert_stderr("NO_SUCH_VARIABLE is not set");
}

#[test]
fn without_a_node_effects_are_not_exercised() {
    let folder = folder();
    let collector = CollectProcess::start(&folder, &[]);
    collector.post(&write_trace(0, json!({ "status": "success", "tx_hash": format!("0x{}", "ab".repeat(32)) })));
    collector.wait_for_kept(1);
    drop(collector);
    assert_eq!(stored(&folder, 0).0["spending_limit"], json!({ "hit": 0, "of": 0 }));
    let watched = folder.run(&["watch", "--once"]);
    watched.assert_stdout("no RPC is configured, so their effects are not decoded");
}
