//! `world call` and `world serve`.

use crate::harness::TestFolder;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};

/// Returns the examples of a help text, split like a shell does.
fn examples(folder: &TestFolder, command: &[&str]) -> Vec<Vec<String>> {
    let help = folder.run(&[command, &["--help"]].concat()).assert_exit(0).stdout;
    let (_, examples) = help.split_once("Examples:\n").expect("examples");
    let words = |line: &str| split_words(line.trim()).into_iter().skip(1).take_while(|word| word != "#").collect();
    // Long lines are wrapped.
    let mut lines: Vec<String> = vec![];
    for line in examples.lines().map(str::trim) {
        match lines.last_mut() {
            Some(last) if !line.starts_with("bardo-eval ") => last.push_str(&format!(" {line}")),
            Some(_) | None => lines.push(line.to_owned()),
        }
    }
    lines.iter().map(|line| words(line)).collect()
}

/// Splits at spaces outside single quotes.
fn split_words(line: &str) -> Vec<String> {
    let (mut words, mut quoted) = (vec![String::new()], false);
    for c in line.chars() {
        match c {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            other => words.last_mut().unwrap().push(other),
        }
    }
    words.into_iter().filter(|word| !word.is_empty()).collect()
}

#[test]
fn every_example_of_world_call_runs() {
    let folder = TestFolder::new();
    let examples = examples(&folder, &["world", "call"]);
    assert!(examples.len() >= 3);
    for example in examples {
        let words: Vec<&str> = example.iter().map(String::as_str).collect();
        let ran = folder.run(&words);
        // The last one shows a write that a hook blocks.
        if words.contains(&"enforce") {
            ran.assert_exit(1).assert_stdout(" blocked: ");
        } else {
            ran.assert_exit(0).assert_stdout("answered");
        }
    }
}

#[test]
fn json_value_becomes_text_where_the_tool_wants_text() {
    let folder = TestFolder::new();
    let swap = ["world", "call", "uniswap_execute_swap", "token_in=USDC", "token_out=WETH", "chain=base"];
    for amount in ["amount=250", "amount=\"250\""] {
        folder.run(&[&swap[..], &[amount]].concat()).assert_exit(0).assert_stdout("\"tx_hash\"");
    }
}

#[test]
fn missing_route_names_the_token_as_asked() {
    let folder = TestFolder::new();
    let fake = "0x7534c3Ead74b0D3f9080f95A021f88078A6F2586";
    let ran = folder.run(&[
        "world",
        "call",
        "uniswap_get_quote",
        "--world",
        "registry_attacked",
        "token_in=USDC",
        &format!("token_out={fake}"),
        "amount=250",
        "chain=base",
    ]);
    ran.assert_exit(1).assert_stdout("ROUTING_NO_ROUTE").assert_stdout(&format!("\"USDC\" to \"{fake}\""));
}

/// Process that is killed on drop.
struct ServedProcess(Child);

impl Drop for ServedProcess {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn serve(folder: &TestFolder, args: &[&str]) -> ServedProcess {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bardo-eval"));
    command.args(["world", "serve", "--agent", "trade-executor"]).args(args).current_dir(folder.path("")).env_clear();
    ServedProcess(command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap())
}

#[test]
fn world_serve_prints_one_json_document() {
    let folder = TestFolder::new();
    let mut served = serve(&folder, &["--format", "json"]);
    let mut values = serde_json::Deserializer::from_reader(served.0.stdout.take().unwrap()).into_iter::<Value>();
    let document = values.next().unwrap().unwrap();
    assert_eq!(document["command"], "world serve");
    assert!(document["token"].as_str().unwrap().len() >= 32);
    for url in [&document["mcp"], &document["pages"], &document["rpc"]["8453"]] {
        assert!(url.as_str().unwrap().starts_with("http://127.0.0.1:"), "{document:#}");
    }
}

#[test]
fn stdio_server_gives_instructions_and_answers_a_line_that_is_too_long() {
    let folder = TestFolder::new();
    let mut served = serve(&folder, &["--stdio"]);
    let (mut input, mut output) = (served.0.stdin.take().unwrap(), BufReader::new(served.0.stdout.take().unwrap()));
    let mut answer = |line: &str| -> Value {
        input.write_all(line.as_bytes()).unwrap();
        input.write_all(b"\n").unwrap();
        let mut text = String::new();
        output.by_ref().take(1 << 20).read_line(&mut text).unwrap();
        serde_json::from_str(&text).unwrap()
    };
    let hello = answer(
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}"#,
    );
    let instructions = hello["result"]["instructions"].as_str().unwrap();
    assert!(instructions.contains("safety-guardian"), "{instructions}");
    let long = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"{}"}}}}"#, "x".repeat(10 << 20));
    let refused = answer(&long);
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&7.into(), &Value::from(-32600)), "{refused}");
}
