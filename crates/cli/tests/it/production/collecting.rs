//! A running collector, and traces to send to it.

use crate::harness::TestFolder;
use serde_json::json;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Process of `collect`, killed on drop.
pub(crate) struct CollectProcess {
    child: Child,
    pub at: String,
}

impl CollectProcess {
    pub(crate) fn start(folder: &TestFolder, args: &[&str]) -> Self {
        Self::start_with(folder, args, &[])
    }

    /// Starts with variables in the environment.
    pub(crate) fn start_with(folder: &TestFolder, args: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bardo-eval"));
        command
            .args(["collect", "--listen", "127.0.0.1:0"])
            .args(args)
            .current_dir(folder.path(""))
            .env_clear()
            .envs(variables.iter().copied());
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let at = loop {
            let line = lines.next().expect("the collector ended").unwrap();
            if let Some(rest) = line.strip_prefix("listening on ") {
                break rest.split(' ').next().unwrap().to_owned();
            }
        };
        // The pipe must not fill up.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, at }
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Posts OTLP/JSON and returns the status and the answer; status 0 if the connection broke.
    pub(crate) fn post(&self, body: &str) -> (u16, String) {
        post_to(&self.at, body)
    }

    /// Returns the most memory that the process had, in MB.
    pub(crate) fn peak_mb(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.trim().trim_end_matches(" kB").trim().parse::<u64>().unwrap() / 1024
    }

    /// Posts any bytes with more header lines.
    pub(crate) fn post_bytes(&self, headers: &str, body: &[u8]) -> u16 {
        let Ok(mut stream) = TcpStream::connect(&self.at) else { return 0 };
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let head = "POST /v1/traces HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\nconnection: close\r\n";
        let head = format!("{head}{headers}content-length: {}\r\n\r\n", body.len());
        // The answer may come before the body was read.
        drop(stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body)));
        let mut answer = vec![];
        drop(stream.read_to_end(&mut answer));
        String::from_utf8_lossy(&answer).split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0)
    }

    pub(crate) fn get(&self, path: &str) -> String {
        exchange(&self.at, &format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")).1
    }

    /// Waits until metrics hold a line.
    pub(crate) fn wait_for(&self, line: &str) {
        let started = Instant::now();
        while !self.get("/metrics").contains(line) {
            assert!(started.elapsed() < Duration::from_secs(60), "no {line} in {}", self.get("/metrics"));
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    pub(crate) fn wait_for_kept(&self, traces: usize) {
        self.wait_for(&format!("bardo_eval_traces_kept_total {traces}\n"));
    }
}

impl Drop for CollectProcess {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Posts OTLP/JSON to an address; status 0 if the connection broke.
pub(crate) fn post_to(at: &str, body: &str) -> (u16, String) {
    let head = "POST /v1/traces HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\nconnection: close\r\n";
    exchange(at, &format!("{head}content-length: {}\r\n\r\n{body}", body.len()))
}

fn exchange(at: &str, request: &str) -> (u16, String) {
    let Ok(mut stream) = TcpStream::connect(at) else { return (0, String::new()) };
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut answer = String::new();
    if stream.write_all(request.as_bytes()).is_err() || stream.read_to_string(&mut answer).is_err() {
        return (0, String::new());
    }
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    (status, answer.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default())
}

/// Returns a trace in which an agent asks for a quote.
pub(crate) fn tool_trace(n: u64) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos();
    let pair = |key: &str, value: &str| json!({ "key": key, "value": { "stringValue": value } });
    let span = |id: u64, parent: u64, name: &str, start: u128, end: u128, attributes: Vec<serde_json::Value>| {
        json!({
            "traceId": format!("{:032x}", n + 1), "spanId": format!("{id:016x}"), "name": name, "kind": 1,
            "parentSpanId": if parent == 0 { String::new() } else { format!("{parent:016x}") },
            "startTimeUnixNano": (now + start * 1_000_000).to_string(), "endTimeUnixNano": (now + end * 1_000_000).to_string(),
            "attributes": attributes, "status": {},
        })
    };
    let user = json!([{ "role": "user", "parts": [{ "type": "text", "content": "What would 250 USDC buy on Base?" }] }]).to_string();
    let said = json!([{ "role": "assistant", "parts": [{ "type": "text", "content": "About 0.1 WETH." }] }]).to_string();
    let args = json!({ "token_in": "USDC", "token_out": "WETH", "amount": "250", "chain": "base" }).to_string();
    let spans = [
        span(
            1,
            0,
            "invoke_agent trade-executor",
            0,
            900,
            vec![pair("gen_ai.operation.name", "invoke_agent"), pair("gen_ai.agent.name", "trade-executor")],
        ),
        span(
            3,
            1,
            "chat made-up-model",
            500,
            800,
            vec![
                pair("gen_ai.operation.name", "chat"),
                pair("gen_ai.request.model", "made-up-model"),
                pair("gen_ai.response.model", "made-up-model-1"),
                pair("gen_ai.input.messages", &user),
                pair("gen_ai.output.messages", &said),
                json!({ "key": "gen_ai.usage.input_tokens", "value": { "intValue": "120" } }),
                json!({ "key": "gen_ai.usage.output_tokens", "value": { "intValue": "30" } }),
            ],
        ),
        span(
            2,
            1,
            "execute_tool uniswap_get_quote",
            100,
            400,
            vec![
                pair("gen_ai.operation.name", "execute_tool"),
                pair("gen_ai.tool.name", "uniswap_get_quote"),
                pair("gen_ai.tool.call.id", "c1"),
                pair("gen_ai.tool.call.arguments", &args),
                pair("gen_ai.tool.call.result", "{\"amount_out\":\"0.1\"}"),
            ],
        ),
    ];
    json!({ "resourceSpans": [{ "scopeSpans": [{ "spans": spans }] }] }).to_string()
}

/// Returns a trace whose agent answers in the form of its role.
pub(crate) fn reported_trace(n: u64) -> String {
    let mut request: serde_json::Value = serde_json::from_str(&tool_trace(n)).unwrap();
    let report = json!({
        "status": "planned", "operation": "quote", "chain_id": 8453, "token_in": "USDC", "token_out": "WETH", "amount_in": "250",
        "amount_out": "0.1", "reason": "250 USDC buy about 0.1 WETH on Base.",
    });
    let said = json!([{ "role": "assistant", "parts": [{ "type": "text", "content": report.to_string() }] }]);
    request["resourceSpans"][0]["scopeSpans"][0]["spans"][1]["attributes"][4]["value"]["stringValue"] = said.to_string().into();
    request.to_string()
}

/// Returns a trace in which an agent pays, with what its tool answered.
pub(crate) fn write_trace(n: u64, result: serde_json::Value) -> String {
    let mut request: serde_json::Value = serde_json::from_str(&tool_trace(n)).unwrap();
    let call = &mut request["resourceSpans"][0]["scopeSpans"][0]["spans"][2];
    let args = json!({
        "token": "ETH", "to": "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC", "amount": "0.01", "chain": "base", "amount_usd": "5",
    });
    call["name"] = "execute_tool wallet_transfer_token".into();
    call["attributes"][1]["value"]["stringValue"] = "wallet_transfer_token".into();
    call["attributes"][3]["value"]["stringValue"] = args.to_string().into();
    call["attributes"][4]["value"]["stringValue"] = result.to_string().into();
    request.to_string()
}

/// Returns a trace in which agents delegate five times in a row, deeper than the policy allows.
pub(crate) fn deep_trace(n: u64) -> String {
    let mut request: serde_json::Value = serde_json::from_str(&tool_trace(n)).unwrap();
    let spans = request["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array_mut().unwrap();
    let root = spans[0].clone();
    for depth in 1..=5 {
        let mut inner = root.clone();
        inner["spanId"] = format!("{:016x}", 10 + depth).into();
        inner["parentSpanId"] = format!("{:016x}", if depth == 1 { 1 } else { 9 + depth }).into();
        inner["attributes"][1]["value"]["stringValue"] = format!("helper-{depth}").into();
        spans.push(inner);
    }
    request.to_string()
}
