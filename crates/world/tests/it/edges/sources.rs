//! Tool sources: live from an npm server, recorded and replayed, stubbed from schemas, and hostile.

use std::io::Write;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use bardo_eval_world::mcp::source::{PassthroughSource, RecordingSource, RemoteTool, ReplaySource, SourceError, StubSource, ToolSource};
use bardo_eval_world::mcp::{self, BoundedQuantity, McpFault, McpLimits};
use model::ToolListing;
use serde_json::{Map, Value, json};

use crate::edges::node_modules;

fn map(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

#[expect(clippy::disallowed_methods, reason = "node is found through the PATH of the test run")]
fn command(program: &str, args: &[&str]) -> mcp::McpEndpoint {
    let path = std::env::var("PATH").expect("PATH is set");
    mcp::McpEndpoint::Command {
        program: program.into(),
        args: args.iter().map(|arg| (*arg).to_owned()).collect(),
        env: vec![("PATH".into(), path)],
    }
}

pub(crate) fn everything_server() -> mcp::McpEndpoint {
    let root = node_modules("@modelcontextprotocol/server-everything");
    command("node", &[&format!("{root}/@modelcontextprotocol/server-everything/dist/index.js")])
}

pub(crate) fn generous_limits() -> McpLimits {
    McpLimits { timeout: Duration::from_secs(60), ..McpLimits::default() }
}

/// In-memory writer whose content can be read afterwards.
#[derive(Clone, Default)]
pub(crate) struct SharedBuffer(Arc<Mutex<Vec<u8>>>);

impl SharedBuffer {
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()).unwrap()
    }
}

impl Write for SharedBuffer {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn public_server_passthrough_recording_and_replay() {
    let live = PassthroughSource::open(&everything_server(), &generous_limits()).await.unwrap();
    assert!(live.offers().iter().any(|offer| offer.listing.name == "echo"));
    let structured = live
        .offers()
        .iter()
        .find(|offer| offer.output_schema.is_some())
        .map(|offer| offer.listing.name.clone())
        .expect("a tool with an output schema");
    let offers = live.offers().to_vec();

    let paper = SharedBuffer::default();
    let mut recording = RecordingSource::new(live, Box::new(paper.clone()), &ReplaySource::default());
    let args = map(json!({ "message": "hello", "extra": 1 }));
    let echoed = recording.call("echo", &args).await.unwrap();
    assert_eq!(echoed, json!("Echo: hello"));
    let weather = map(json!({ "location": "New York" }));
    let answer = recording.call(&structured, &weather).await.unwrap();
    assert!(answer.is_object(), "{answer}");
    let failed = recording.call("echo", &map(json!({ "message": 7 }))).await.unwrap_err();
    assert!(matches!(failed, SourceError::Failed { .. }), "{failed}");
    let unknown = recording.call("ecko", &Map::new()).await.unwrap_err();
    assert!(matches!(&unknown, SourceError::UnknownTool { guess, .. } if guess.contains("echo")), "{unknown}");
    recording.into_inner().close().await;

    let mut replay = ReplaySource::parse(&paper.text()).unwrap();
    assert_eq!(replay.call("echo", &map(json!({ "extra": 1, "message": "hello" }))).await.unwrap(), echoed);
    assert_eq!(replay.call(&structured, &weather).await.unwrap(), answer);
    assert_eq!(replay.call("echo", &map(json!({ "message": 7 }))).await.unwrap_err().to_string(), failed.to_string());
    let missing = replay.call("echo", &map(json!({ "message": "hallo", "extra": 1 }))).await.unwrap_err().to_string();
    assert!(missing.starts_with("no recording of echo with {\"message\":\"hallo\",\"extra\":1}; the closest has {\"message\":\"hello\",\"extra\":1} and differs in message"), "{missing}");
    let nothing = replay.call("ecko", &Map::new()).await.unwrap_err().to_string();
    assert!(nothing.contains("no call of this tool was recorded") && nothing.contains("echo"), "{nothing}");

    // Only the tool with an output schema can be stubbed.
    let mut stubs = StubSource::new(offers.clone(), 1);
    let stub = stubs.call(&structured, &weather).await.unwrap();
    assert_eq!(stub, StubSource::new(offers.clone(), 1).call(&structured, &weather).await.unwrap());
    assert_ne!(stub, StubSource::new(offers.clone(), 2).call(&structured, &weather).await.unwrap());
    assert_eq!(stub.as_object().unwrap().keys().collect::<Vec<_>>(), answer.as_object().unwrap().keys().collect::<Vec<_>>());
    assert!(matches!(stubs.call("echo", &args).await.unwrap_err(), SourceError::NoSchema { .. }));
    assert!(stubs.unstubbable_tools().contains_key("echo") && !stubs.unstubbable_tools().contains_key(&structured));
}

/// Starts the same server over HTTP. Retries if another process takes the free port first.
async fn everything_over_http() -> (tokio::process::Child, String) {
    let mcp::McpEndpoint::Command { program, args, env } = everything_server() else { panic!("not a command") };
    for _ in 0..3 {
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut node = tokio::process::Command::new(&program);
        node.args(&args).arg("streamableHttp").env_clear().envs(env.clone()).env("PORT", port.to_string());
        node.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
        let mut child = node.spawn().unwrap();
        for _ in 0..600 {
            if tokio::net::TcpStream::connect(("127.0.0.1", port)).await.is_ok() {
                return (child, format!("http://127.0.0.1:{port}/mcp"));
            }
            if child.try_wait().unwrap().is_some() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
    panic!("the server did not start listening");
}

#[tokio::test]
async fn public_server_passthrough_over_http() {
    let (_child, url) = everything_over_http().await;
    let mut live = PassthroughSource::open(&mcp::McpEndpoint::Url(url), &generous_limits()).await.unwrap();
    for word in ["one", "two", "three"] {
        assert_eq!(live.call("echo", &map(json!({ "message": word }))).await.unwrap(), json!(format!("Echo: {word}")));
    }
    assert!(matches!(live.call("echo", &Map::new()).await.unwrap_err(), SourceError::Failed { .. }));
    live.close().await;
}

/// Source that returns an increasing number.
struct CountingSource(u64);

#[async_trait]
impl ToolSource for CountingSource {
    async fn call(&mut self, _: &str, _: &Map<String, Value>) -> Result<Value, SourceError> {
        self.0 += 1;
        Ok(json!(self.0))
    }
}

#[tokio::test]
async fn replay_answers_repeated_calls_in_order() {
    let paper = SharedBuffer::default();
    let mut recording = RecordingSource::new(CountingSource(0), Box::new(paper.clone()), &ReplaySource::default());
    for _ in 0..3 {
        recording.call("count", &Map::new()).await.unwrap();
    }
    let mut replay = ReplaySource::parse(&paper.text()).unwrap();
    for expected in [1, 2, 3, 3, 3] {
        assert_eq!(replay.call("count", &Map::new()).await.unwrap(), expected);
    }
}

#[tokio::test]
async fn later_recording_replaces_answers_of_the_same_call() {
    let paper = SharedBuffer::default();
    let other = Map::from_iter([("of".to_owned(), json!("another call"))]);
    let mut first = RecordingSource::new(CountingSource(0), Box::new(paper.clone()), &ReplaySource::default());
    first.call("count", &Map::new()).await.unwrap();
    first.call("count", &other).await.unwrap();
    let earlier = ReplaySource::parse(&paper.text()).unwrap();
    let mut second = RecordingSource::new(CountingSource(10), Box::new(paper.clone()), &earlier);
    second.call("count", &Map::new()).await.unwrap();
    let mut replay = ReplaySource::parse(&paper.text()).unwrap();
    assert_eq!(replay.call("count", &Map::new()).await.unwrap(), 11);
    assert_eq!(replay.call("count", &other).await.unwrap(), 2, "not recorded again");
}

#[tokio::test]
async fn invalid_recording_error_names_the_line() {
    for bad in
        ["{}", "garbage", "{\"tool\":\"x\",\"args\":{},\"said\":{\"maybe\":1}}", "{\"tool\":\"x\",\"args\":[],\"said\":{\"result\":1}}"]
    {
        let text = format!("{{\"tool\":\"x\",\"args\":{{}},\"said\":{{\"result\":1}}}}\n\n{bad}\n");
        let error = ReplaySource::parse(&text).unwrap_err();
        assert!(matches!(error, SourceError::BadRecording { line: 3, .. }), "{error}");
    }
}

fn offer(schema: Value) -> Vec<RemoteTool> {
    let listing = ToolListing { name: "tool".into(), description: String::new(), input_schema: json!({ "type": "object" }).into() };
    vec![RemoteTool { listing, output_schema: Some(schema), declared_effect: None }]
}

#[tokio::test]
async fn stub_answers_fit_their_output_schemas() {
    for schema in [
        json!({ "type": "object", "properties": { "a": { "type": "integer", "minimum": 5, "maximum": 6 }, "b": { "type": "string", "minLength": 20 } }, "required": ["a", "b"] }),
        json!({ "type": "object", "properties": { "when": { "type": "string", "format": "date-time" }, "id": { "type": "string", "format": "uuid" } } }),
        json!({ "type": "array", "items": { "enum": ["x", "y"] }, "minItems": 4 }),
        json!({ "type": "array", "prefixItems": [{ "type": "string" }, { "type": "null" }], "items": { "type": "boolean" } }),
        json!({ "oneOf": [{ "const": 1 }, { "type": "object", "required": ["z"], "properties": { "z": { "type": "number", "exclusiveMinimum": 0, "maximum": 1 } } }] }),
        json!({ "allOf": [{ "type": "object", "properties": { "a": { "const": 1 } } }, { "required": ["a", "b"], "properties": { "b": { "type": "null" } } }] }),
        json!({ "$defs": { "node": { "type": "object", "properties": { "next": { "$ref": "#/$defs/node" }, "v": { "type": "integer", "multipleOf": 7, "minimum": 1 } }, "required": ["v"] } }, "$ref": "#/$defs/node" }),
        json!({ "type": ["integer", "null"], "exclusiveMaximum": 0 }),
        json!({ "type": "string", "pattern": "^0x[0-9a-f]{4}$", "examples": ["0xbeef"] }),
        json!({ "type": "string", "pattern": "^0x[0-9a-f]{4}$" }),
        json!({ "type": "object", "required": ["free"], "additionalProperties": { "type": "string" } }),
        json!({}),
    ] {
        let validator = jsonschema::validator_for(&schema).unwrap();
        for seed in 0..50 {
            let made = StubSource::new(offer(schema.clone()), seed)
                .call("tool", &Map::new())
                .await
                .unwrap_or_else(|error| panic!("{schema}: {error}"));
            assert!(validator.is_valid(&made), "{schema} gives {made}");
        }
    }
}

#[tokio::test]
async fn stub_source_rejects_hostile_schemas() {
    for schema in [
        json!({ "type": "array", "items": {}, "minItems": 4_000_000_000_u64 }),
        json!({ "type": "string", "minLength": 4_000_000_000_u64 }),
        json!({ "$ref": "#" }),
        json!({ "$ref": "http://127.0.0.1:1/x" }),
        json!({ "$defs": { "n": { "type": "array", "items": { "$ref": "#/$defs/n" }, "minItems": 9, "maxItems": 9 } }, "$ref": "#/$defs/n" }),
        json!({ "type": "string", "pattern": "^(?=a)b$" }),
        json!({ "type": "nothing" }),
        json!({ "type": "integer", "minimum": 9, "maximum": 1 }),
        json!({ "not": {} }),
    ] {
        let error = StubSource::new(offer(schema.clone()), 0).call("tool", &Map::new()).await.expect_err("a stub was generated");
        assert!(matches!(error, SourceError::Unstubbable { .. }), "{schema}: {error}");
    }
}

/// Server that lists one tool `t` and answers its call by running `reply`, a JavaScript expression.
fn hostile(reply: &str) -> mcp::McpEndpoint {
    let script = format!(
        r#"
        const say = (id, result) => process.stdout.write(JSON.stringify({{ jsonrpc: "2.0", id, result }}) + "\n");
        require("readline").createInterface({{ input: process.stdin }}).on("line", (line) => {{
            const {{ id, method }} = JSON.parse(line);
            if (method === "initialize") say(id, {{ protocolVersion: "2025-06-18", capabilities: {{ tools: {{}} }}, serverInfo: {{ name: "h", version: "1" }} }});
            else if (method === "tools/list") say(id, {{ tools: [{{ name: "t", inputSchema: {{ type: "object" }} }}] }});
            else if (method === "tools/call") {{ {reply} }}
            else if (id !== undefined) process.stdout.write(JSON.stringify({{ jsonrpc: "2.0", id, error: {{ code: -32601, message: "no" }} }}) + "\n");
        }});
        "#
    );
    command("node", &["-e", &script])
}

#[tokio::test]
async fn passthrough_bounds_misbehaving_servers() {
    let limits = McpLimits { timeout: Duration::from_secs(20), message_bytes: 100_000, ..McpLimits::default() };
    let fault = async |reply: &str, limits: McpLimits| {
        let mut live = PassthroughSource::open(&hostile(reply), &limits).await.unwrap();
        let error = live.call("t", &Map::new()).await.unwrap_err();
        live.close().await;
        let SourceError::Server(error) = error else { panic!("{reply}: {error}") };
        *error.fault
    };
    let endless = r#"const more = () => { while (process.stdout.write("x".repeat(65536))); process.stdout.once("drain", more); }; more();"#;
    assert_eq!(fault(endless, limits).await, McpFault::TooMuch { what: BoundedQuantity::Message, limit: 100_000 });
    let flood = r#"const more = () => { while (process.stdout.write('{"jsonrpc":"2.0","method":"notifications/x"}\n')); process.stdout.once("drain", more); }; more();"#;
    assert!(matches!(fault(flood, limits).await, McpFault::TooMuch { what: BoundedQuantity::Lines | BoundedQuantity::Total, .. }));
    let left = fault("process.exit(3);", limits).await;
    assert!(matches!(left, McpFault::Left { .. }), "{left:?}");
    let nonsense = fault(r#"say(id, { neither: "this", nor: "that", content: 7 });"#, limits).await;
    assert!(matches!(nonsense, McpFault::NotMcp { .. }), "{nonsense:?}");
    let short = McpLimits { timeout: Duration::from_secs(5), ..limits };
    let silent = fault("", short).await;
    assert_eq!(silent, McpFault::Unanswered { tool: "t".into(), within: short.timeout });
}

#[tokio::test]
async fn tool_result_is_converted_to_json() {
    let limits = generous_limits();
    for (reply, expected) in [
        (r#"say(id, { content: [{ type: "text", text: "plain" }] });"#, json!("plain")),
        (r#"say(id, { content: [{ type: "text", text: '{"a":1}' }] });"#, json!({ "a": 1 })),
        (r#"say(id, { content: [{ type: "text", text: "7" }] });"#, json!("7")),
        (r#"say(id, { content: [], structuredContent: { b: 2 } });"#, json!({ "b": 2 })),
        (r#"say(id, { content: [] });"#, json!("")),
    ] {
        let mut live = PassthroughSource::open(&hostile(reply), &limits).await.unwrap();
        assert_eq!(live.call("t", &Map::new()).await.unwrap(), expected, "{reply}");
        live.close().await;
    }
    let mut refusing = PassthroughSource::open(
        &hostile(r#"process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32602, message: "bad" } }) + "\n");"#),
        &limits,
    )
    .await
    .unwrap();
    let error = refusing.call("t", &Map::new()).await.unwrap_err();
    assert_eq!(error.to_string(), "t failed: error -32602: bad");
    refusing.close().await;
}
