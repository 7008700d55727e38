//! Every process that we started ends with us, however we end, and the events of `world serve` are complete until then.

use super::processes::{END_TIMEOUT, assert_ended, named, wait_for_descendants};
use crate::harness::TestFolder;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const SIGNALS: &[&str] = &["TERM", "INT", "HUP", "KILL"];

/// Ignores all signals that can be ignored, starts children in every way that could escape, which ignore them too and hold the standard
/// input open, touches the chain, and hangs.
const FORKS_AND_HANGS: &str = r#"
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP", "SIGPIPE"]) process.on(signal, () => {});
for await (const line of createInterface({ input: process.stdin })) {
  const { hello } = JSON.parse(line);
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_blockNumber", params: [] });
  await fetch(Object.values(hello.rpc)[0], { method: "POST", headers: { "content-type": "application/json" }, body });
  const daemons = "sleep 97531 <&3 & setsid sleep 97532 <&3 & (setsid env -i /bin/sleep 97533 <&3 &); wait";
  spawn("sh", ["-c", `trap "" TERM INT HUP; exec 3<&0; ${daemons}`], { stdio: ["inherit", "ignore", "ignore"] });
}
setInterval(() => {}, 1000);
"#;

fn folder_with_tools() -> TestFolder {
    let folder = TestFolder::with_minimal();
    let tools = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.tools").canonicalize().expect("run scripts/install-test-tools");
    std::os::unix::fs::symlink(tools, folder.path(".tools")).unwrap();
    fs::create_dir(folder.path("tmp")).unwrap();
    folder
}

fn start(folder: &TestFolder, args: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bardo-eval"));
    command.args(args).current_dir(folder.path("")).env_clear();
    command.env("PATH", std::env::var_os("PATH").unwrap()).env("TMPDIR", folder.path("tmp"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

/// Sends a signal and waits for the end of the evaluator.
fn end(child: &mut Child, signal: &str) {
    let sent = Command::new("kill").args([format!("-{signal}"), child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let start = Instant::now();
    while start.elapsed() < END_TIMEOUT {
        if child.try_wait().unwrap().is_some() {
            return;
        }
        thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    panic!("the evaluator ignores {signal}");
}

#[test]
fn agents_and_nodes_end_with_a_run() {
    let folder = folder_with_tools();
    folder.write("agent.mjs", FORKS_AND_HANGS);
    for (chain, nodes) in [("embedded", 0), ("anvil", 1)] {
        for signal in SIGNALS {
            let args = ["run", "--subject", "process:node agent.mjs", "--case", "sell_usdc_for_ether", "--no-store", "--chain", chain];
            let mut run = start(&folder, &args);
            let what = format!("{chain}, {signal}");
            let all = wait_for_descendants(run.id(), &what, |all| named(all, "sleep") == 3 && named(all, "anvil") >= nodes);
            end(&mut run, signal);
            assert_ended(&all, &what);
            wait_for_empty(&folder.path("tmp"), &what);
        }
    }
}

#[test]
fn end_of_one_trial_leaves_the_programs_of_others_alone() {
    let folder = TestFolder::with_minimal();
    folder.write("agent.sh", "while read -r line; do echo '{\"say\": \"Done.\"}'; done\n");
    let args =
        ["run", "--subject", "process:sh agent.sh", "--case", "sell_usdc_for_ether", "--no-store", "--trials", "60", "--concurrency", "6"];
    let report = folder.run(&args);
    report.assert_stdout("60 planned, ").assert_stdout(" unjudged, 0 aborted");
}

fn wait_for_empty(path: &Path, what: &str) {
    let start = Instant::now();
    while start.elapsed() < END_TIMEOUT {
        if fs::read_dir(path).unwrap().next().is_none() {
            return;
        }
        thread::sleep(Duration::from_millis(20));
    }
    panic!("{what}: a folder of a trial is left");
}

/// Sends a JSON-RPC request to a URL and returns the answer.
fn post(url: &str, method: &str, params: &str) -> String {
    let (host, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
    let mut stream = TcpStream::connect(host).unwrap();
    let length = body.len();
    let head = format!(
        "POST /{path} HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n"
    );
    stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// Returns the number of events in a file; every line must be complete.
fn count_events(path: &Path) -> usize {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.is_empty() || text.ends_with('\n'), "{text}");
    let events: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    events.len()
}

#[test]
fn nodes_end_with_world_serve_and_its_events_are_complete() {
    let folder = folder_with_tools();
    for signal in SIGNALS {
        let events = folder.path("events.jsonl");
        let mut serve = start(&folder, &["world", "serve", "--agent", "trader", "--chain", "anvil", "--events", "events.jsonl"]);
        let lines = BufReader::new(serve.stdout.take().unwrap()).lines().map(Result::unwrap);
        let url = lines.into_iter().find_map(|line| Some(line.split_once("RPC")?.1.split_whitespace().next()?.to_owned())).unwrap();
        let accounts = post(&url, "eth_accounts", "[]");
        let from = &accounts[accounts.find("0x").unwrap()..][..42];
        let sent = post(&url, "personal_sign", &format!(r#"["0x1234","{from}"]"#));
        assert!(sent.contains("result"), "{sent}");
        post(&url, "eth_blockNumber", "[]");
        let before = count_events(&events);
        assert!(before > 0, "no event is written before the end");
        let all = wait_for_descendants(serve.id(), signal, |all| named(all, "anvil") >= 1);
        end(&mut serve, signal);
        assert_ended(&all, signal);
        assert_eq!(count_events(&events), before, "{signal}");
    }
}

#[test]
fn nodes_end_with_world_serve_over_stdio_and_its_events_are_complete() {
    let folder = folder_with_tools();
    let requests = [
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"swap_get_quote","arguments":{"token_in":"USDC","token_out":"WETH","amount":"250","chain":"base"}}}"#,
    ];
    for signal in SIGNALS {
        let events = folder.path("events.jsonl");
        let mut serve = start(&folder, &["world", "serve", "--stdio", "--agent", "trader", "--chain", "anvil", "--events", "events.jsonl"]);
        let mut stdin = serve.stdin.take().unwrap();
        for request in requests {
            stdin.write_all(format!("{request}\n").as_bytes()).unwrap();
        }
        let mut answers = BufReader::new(serve.stdout.take().unwrap()).lines().map(Result::unwrap);
        answers.find(|line| line.contains("\"id\":2")).expect("an answer");
        let before = count_events(&events);
        assert!(before > 0, "no event is written before the end");
        let all = wait_for_descendants(serve.id(), signal, |all| named(all, "anvil") >= 1);
        end(&mut serve, signal);
        assert_ended(&all, signal);
        assert_eq!(count_events(&events), before, "{signal}");
    }
}
