//! Agents that are servers: of the OpenAI-compatible chat API, and of the Agent2Agent protocol with its public SDK.

use crate::harness::TestFolder;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use testkit::{chat, trader};

const SWAP_CASE: &str = "sell_usdc_for_ether";

fn show(folder: &TestFolder, case: &str) -> Value {
    folder.json(&["show", case], 0)
}

#[test]
fn chat_server_is_an_agent() {
    let folder = TestFolder::with_minimal();
    let requests = Arc::<Mutex<Vec<Value>>>::default();
    let seen = requests.clone();
    let url = chat::serve_chat(move |request, _| {
        seen.lock().unwrap().push(request.clone());
        trader::next_step(request)
    });
    for url in [url.clone(), format!("{url}/chat/completions")] {
        let subject = format!("chat:{url}");
        // A budget does not matter: we do not pay for it.
        let document = folder.json(&["run", "--subject", &subject, "--case", SWAP_CASE, "--budget", "0.01"], 0);
        assert_eq!((&document["passed"], document["spent_usd"].as_f64()), (&1.into(), Some(0.0)), "{document:#}");
    }
    let requests = requests.lock().unwrap();
    for request in requests.iter() {
        let roles: Vec<&str> = request["messages"].as_array().unwrap().iter().filter_map(|one| one["role"].as_str()).collect();
        assert!(!roles.contains(&"system"), "its prompt is its own: {request:#}");
        assert!(request.get("max_tokens").is_none() && request["model"] == "agent", "{request:#}");
        assert!(request["tools"].as_array().unwrap().iter().any(|tool| tool["function"]["name"] == "swap_execute"));
    }
    assert_eq!(requests.len(), 10, "five replies in each of two runs, none asked twice");
}

#[test]
fn faults_of_a_chat_server_are_those_of_the_agent() {
    let folder = TestFolder::with_minimal();
    let asked = Arc::<Mutex<u64>>::default();
    let count = asked.clone();
    let url = chat::serve_chat(move |_, _| {
        *count.lock().unwrap() += 1;
        json!({ "answer": "hm" })
    });
    folder.run(&["run", "--subject", &format!("chat:{url}"), "--case", SWAP_CASE]).assert_exit(1);
    let shown = show(&folder, SWAP_CASE);
    assert_eq!(shown["ending"]["ending"], "malformed_move", "{shown:#}");
    assert_eq!(*asked.lock().unwrap(), 1, "an agent is asked once");
    let slow = chat::serve_chat(|_, _| {
        std::thread::sleep(std::time::Duration::from_secs(20));
        chat::text_reply("late")
    });
    folder.run(&["run", "--subject", &format!("chat:{slow}"), "--case", SWAP_CASE, "--timeout", "1"]).assert_exit(1);
    assert_eq!(show(&folder, SWAP_CASE)["ending"]["ending"], "hung");
}

#[test]
fn chat_agent_has_a_subject_file() {
    let folder = TestFolder::with_minimal();
    let url = chat::serve_chat(|request, _| {
        assert_eq!((&request["model"], &request["messages"][0]["content"]), (&json!("team-7"), &json!("Be brief.")));
        trader::next_step(request)
    });
    let file = format!("subject: ours\nprovider: chat\nurl: {url}\nmodel: team-7\nprompt: Be brief.\nabout: A test.\n");
    folder.write("evals/subjects/ours.yaml", file);
    folder.json(&["run", "--subject", "ours", "--case", SWAP_CASE], 0);
    folder.run(&["doctor"]).assert_stdout("subject ours");
}

/// Server of the example, ended on drop.
pub(crate) struct A2aServer {
    child: Child,
    pub(crate) url: String,
}

impl A2aServer {
    pub(crate) fn start(version: &str) -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
        let modules = root.join(".tools/node_modules");
        assert!(modules.join("@a2a-js/sdk").exists(), "the A2A SDK is missing: run scripts/install-test-tools");
        // Modules are looked up beside the file.
        let folder = root.join(".tools/a2a-agent");
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join(format!("agent-{}.mjs", std::process::id()));
        std::fs::copy(root.join("examples/agents/a2a-agent.mjs"), &file).unwrap();
        let mut child = Command::new("node").arg(&file).arg(version).stdout(Stdio::piped()).spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        Self { child, url: url.trim().to_owned() }
    }
}

impl Drop for A2aServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a2a_server_is_an_agent() {
    let folder = TestFolder::with_minimal();
    for version in ["1.0", "0.3"] {
        let server = A2aServer::start(version);
        let subject = format!("a2a:{}", server.url);
        for case in ["how_much_usdc", SWAP_CASE] {
            let ran = folder.run(&["run", "--subject", &subject, "--case", case, "--format", "json"]);
            let document: Value = serde_json::from_str(&ran.stdout).unwrap();
            assert_eq!(document["passed"], 1, "{version} {case}: {:#}", show(&folder, case));
        }
        let shown = show(&folder, SWAP_CASE);
        assert_eq!(shown["ending"]["ending"], "finished", "{shown:#}");
    }
}

/// Starts a server that gives every request the same answer, with a status line, and returns its address.
fn serve_always(answer: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut line = String::new();
            let mut request = BufReader::new(stream.try_clone().unwrap());
            while request.read_line(&mut line).unwrap() > 2 {
                line.clear();
            }
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    url
}

/// An agent whose card cannot be read was never asked, so there is no evidence about it: neither by an error nor by a page in place of the card.
#[test]
fn a2a_server_without_a_card_is_not_evidence() {
    let folder = TestFolder::with_minimal();
    for (answer, why) in [
        ("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n", "/.well-known/agent.json answered with status 404"),
        ("HTTP/1.1 200 OK\r\ncontent-length: 13\r\nconnection: close\r\n\r\n<html></html>", "it is not JSON"),
        (
            "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}",
            "/.well-known/agent-card.json: it offers no JSON-RPC interface",
        ),
        (
            "HTTP/1.1 200 OK\r\ncontent-length: 83\r\nconnection: close\r\n\r\n{\"supportedInterfaces\": [{\"protocolBinding\": \"GRPC\", \"url\": \"http://127.0.0.1:1\"}]}",
            "it offers no JSON-RPC interface",
        ),
    ] {
        let subject = format!("a2a:{}", serve_always(answer));
        folder.run(&["run", "--subject", &subject, "--case", SWAP_CASE]).assert_exit(3);
        let ending = &show(&folder, SWAP_CASE)["ending"];
        assert_eq!((&ending["ending"], &ending["by"]), (&"aborted".into(), &"provider".into()), "{ending}");
        let said = ending["why"].as_str().unwrap();
        assert!(said.starts_with("the agent has no card: ") && said.contains(why), "{why}: {said}");
        let stopped = folder.run(&["run", "--subject", &subject, "--case", SWAP_CASE, "--trials", "2"]).assert_exit(3);
        stopped.assert_stderr("/.well-known/agent-card.json is the card of an A2A agent with JSON-RPC");
    }
}
