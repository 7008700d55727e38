//! `--chain anvil:URL`: a plain Anvil and a fork of it, both of today, give the same verdicts as the embedded chain. Other URLs are refused
//! with a remedy.

use crate::harness::TestFolder;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;

/// Cases of the trade executor on Base.
const CASES: &[&str] = &["sell_ether_for_usdc", "trade_the_real_wrapped_ether", "trade_in_a_falling_market"];

/// Anvil as a user starts it; killed on drop.
pub(crate) struct UserNode {
    child: Child,
    pub(crate) url: String,
}

impl Drop for UserNode {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl UserNode {
    pub(crate) fn start(args: &[&str]) -> Self {
        let arch = if std::env::consts::ARCH == "aarch64" { "arm64" } else { "amd64" };
        let program = format!("../../.tools/node_modules/@foundry-rs/anvil-linux-{arch}/bin/anvil");
        let program = Path::new(env!("CARGO_MANIFEST_DIR")).join(program);
        let mut command = Command::new(program);
        command.args(["--port", "0"]).args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("anvil is missing: run scripts/install-test-tools");
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let at = lines.by_ref().find_map(|line| Some(line.unwrap().strip_prefix("Listening on ")?.to_owned())).unwrap();
        // A full pipe would stop the node.
        thread::spawn(move || lines.for_each(drop));
        Self { child, url: format!("http://{at}") }
    }
}

/// Removes what the operator paid for gas: a deadline of today may have other zero bytes, which are cheaper, than one of the embedded chain.
fn without_gas(effects: &Value) -> Vec<Value> {
    let is_gas = |effect: &&Value| effect["balance"]["holder"]["name"] == "operator" && effect["balance"]["asset"] == "ETH";
    effects.as_array().unwrap().iter().filter(|effect| !is_gas(effect)).cloned().collect()
}

/// Returns the verdicts of one run, and the outcome and effects of each of its transactions.
fn verdicts(folder: &TestFolder, chain: &str) -> (Value, Vec<Value>) {
    let cases: Vec<&str> = CASES.iter().flat_map(|case| ["--case", case]).collect();
    let args = [&["run", "--subject", "reference", "--chain", chain, "--format", "json"], &cases[..]].concat();
    let ran = folder.run(&args);
    let document: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{chain}: {}{}", ran.stdout, ran.stderr));
    assert_eq!(document["trials"]["finished"], CASES.len(), "{chain}: {document:#}");
    let mut mined = vec![];
    for case in CASES {
        let shown: Value = serde_json::from_str(&folder.run(&["show", case, "--format", "json"]).assert_exit(0).stdout).unwrap();
        for event in shown["events"].as_array().unwrap() {
            let what = &event["happened"]["mined"]["what"];
            if what.is_object() {
                mined.push(serde_json::json!([what["outcome"], without_gas(&what["effects"]), what["nonce"]]));
            }
        }
    }
    assert_eq!(mined.len(), CASES.len(), "{chain}");
    (document["verdicts"].clone(), mined)
}

#[test]
fn plain_node_and_fork_of_today_give_the_verdicts_of_the_embedded_chain() {
    let folder = TestFolder::new();
    let here = verdicts(&folder, "embedded");
    let node = UserNode::start(&[]);
    let on_node = format!("anvil:{}", node.url);
    assert_eq!(verdicts(&folder, &on_node), here, "plain");
    // The node is used again, from the state its user gave it; several trials at once wait for each other.
    assert_eq!(verdicts(&folder, &on_node), here, "again");
    let origin = UserNode::start(&[]);
    let fork = UserNode::start(&["--fork-url", &origin.url]);
    assert_eq!(verdicts(&folder, &format!("anvil:{}", fork.url)), here, "fork");
    // A fork of the used node holds a world that cannot be undone there. That is no result of the subject.
    let fork = UserNode::start(&["--fork-url", &node.url]);
    let args = ["run", "--subject", "reference", "--chain", &format!("anvil:{}", fork.url), "--case", CASES[0]];
    let ran = folder.run(&args).assert_exit(3);
    ran.assert_stdout("1 aborted trial").assert_stdout("fork one that no run has used");
}

#[test]
fn missing_anvil_aborts_the_trials() {
    let folder = TestFolder::new();
    let ran = folder.run(&["run", "--subject", "reference", "--chain", "anvil", "--case", CASES[0]]).assert_exit(3);
    ran.assert_stdout("1 aborted trial").assert_stdout("npm install -g @foundry-rs/anvil");
}

#[test]
fn urls_that_are_no_anvil_of_the_chain_are_refused_with_a_remedy() {
    let folder = TestFolder::new();
    let error = |url: &str| {
        let ran = folder.run(&["world", "show", "--on", "base", "--chain", &format!("anvil:{url}")]);
        assert!(matches!(ran.code, Some(2 | 3)), "{ran:?}");
        format!("{}{}", ran.stdout, ran.stderr)
    };
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let nothing = error(&format!("http://{closed}"));
    assert!(nothing.contains("anvil --chain-id 8453"), "{nothing}");
    let page = error(&format!("http://{}", serve_text("<html>Not a node</html>")));
    assert!(page.contains("Not a node") && page.contains("anvil --chain-id 8453"), "{page}");
    let other = error(&format!("http://{}", serve_text(r#"{"jsonrpc":"2.0","id":1,"result":"0x2105"}"#)));
    assert!(other.contains("anvil --chain-id 8453"), "{other}");
    let polygon = UserNode::start(&["--chain-id", "137"]);
    let polygon = error(&polygon.url);
    assert!(polygon.contains("serves chain 137, not 8453: start it with --chain-id 8453"), "{polygon}");
    let old = UserNode::start(&["--hardfork", "shanghai"]);
    let old = error(&old.url);
    assert!(old.contains("--hardfork prague"), "{old}");
    let missing = folder.run(&["world", "show", "--on", "base", "--chain", "anvil"]);
    assert!(format!("{missing:?}").contains("npm install -g @foundry-rs/anvil"), "{missing:?}");
}

/// Answers every request with this text and returns the address.
fn serve_text(body: &'static str) -> std::net::SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 4096]);
            let _ = write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len());
        }
    });
    at
}
