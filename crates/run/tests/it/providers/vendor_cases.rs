//! Vendors of the test table, with the same replies in each wire format, whole and streamed.

use model::{AgentEndpoint, ContentHash, ModelPrice, Money, OpenAiApi, ProviderKind, SubjectFile, ToolListing};
use run::ledger::{CallId, CallRole, MemoryLedger};
use run::providers::{
    ApiKey, CassetteMode, ChatMessage, ContentBlock, MessageRole, ModelCall, ModelRequest, ProviderConfig, RetryPolicy, SharedProvider,
    ToolChoice, build_provider,
};
use run::{Budget, Clock};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::Duration;
use testkit::{LoopbackServer, ReceivedRequest, VendorReply};

pub(crate) const KEY: &str = "not-a-real-key-for-anyone";

/// Wire format and streaming mode under test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct VendorCase {
    pub(crate) wire: WireName,
    pub(crate) stream: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WireName {
    Anthropic,
    Chat,
    Compatible,
    Responses,
    Ollama,
}

pub(crate) fn all_vendors() -> Vec<VendorCase> {
    let wires = [WireName::Anthropic, WireName::Chat, WireName::Compatible, WireName::Responses, WireName::Ollama];
    wires.into_iter().flat_map(|wire| [false, true].map(|stream| VendorCase { wire, stream })).collect()
}

/// Content of a reply, the same for all vendors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReplyScenario {
    /// "Hello", usage 100 in (60 of them from the cache, where the vendor has one), 20 out.
    Hello,
    /// Two calls of `get.quote` with `{"n":1}` and without arguments, and one of `send` with invalid JSON where the wire allows it.
    Calls,
    /// Thinking, then a call.
    Thinks,
    /// Block of a server-side tool and an unknown field, then "Hello".
    Odd,
    Refuses,
    RunsOut,
}

impl VendorCase {
    pub(crate) fn subject_file(self, url: &str) -> SubjectFile {
        let (kind, api, base) = match self.wire {
            WireName::Anthropic => (ProviderKind::Anthropic, None, ""),
            WireName::Chat => (ProviderKind::OpenAi, Some(OpenAiApi::Chat), "/v1"),
            WireName::Compatible => (ProviderKind::OpenAiCompatible, None, "/v1/"),
            WireName::Responses => (ProviderKind::OpenAi, None, "/v1"),
            WireName::Ollama => (ProviderKind::Ollama, None, ""),
        };
        let mut file = SubjectFile::from_command_line("vendor", kind, AgentEndpoint::Url(String::new()));
        file.external = None;
        file.model = Some("some-model".into());
        file.api = api;
        file.stream = self.stream;
        file.base_url = Some(format!("{url}{base}"));
        file.key_env = Some("SOME_KEY".into());
        file.price = Some(price());
        file
    }

    pub(crate) fn path(self) -> &'static str {
        match self.wire {
            WireName::Anthropic => "/v1/messages",
            WireName::Chat | WireName::Compatible => "/v1/chat/completions",
            WireName::Responses => "/v1/responses",
            WireName::Ollama => "/api/chat",
        }
    }

    /// Returns the body of a reply in this wire format.
    pub(crate) fn reply_body(self, says: ReplyScenario) -> String {
        match (self.wire, self.stream) {
            (WireName::Anthropic, false) => anthropic(says).to_string(),
            (WireName::Anthropic, true) => anthropic_stream(&anthropic(says)),
            (WireName::Chat | WireName::Compatible, false) => chat(says).to_string(),
            (WireName::Chat | WireName::Compatible, true) => chat_stream(&chat(says)),
            (WireName::Responses, false) => responses(says).to_string(),
            (WireName::Responses, true) => responses_stream(&responses(says)),
            (WireName::Ollama, false) => ollama(says).to_string(),
            (WireName::Ollama, true) => ollama_stream(&ollama(says)),
        }
    }
}

pub(crate) fn price() -> ModelPrice {
    ModelPrice {
        input_per_mtok: Money::from_dollars(2),
        output_per_mtok: Money::from_dollars(10),
        cache_read_per_mtok: Some(Money::from_dollars(1)),
        cache_write_per_mtok: Some(Money::from_dollars(3)),
        as_of: "2026-11-15".into(),
    }
}

/// Provider with its server, budget and ledger.
pub(crate) struct ProviderFixture {
    pub(crate) server: LoopbackServer,
    pub(crate) provider: SharedProvider,
    pub(crate) budget: Arc<Budget>,
    pub(crate) ledger: Arc<MemoryLedger>,
}

impl ProviderFixture {
    pub(crate) async fn open(
        vendor: VendorCase,
        attempts: u32,
        answer: impl Fn(usize, &ReceivedRequest) -> VendorReply + Send + Sync + 'static,
    ) -> Self {
        let server = LoopbackServer::start(answer).await;
        let (budget, ledger) = (Budget::new(Some(Money::from_dollars(100))), Arc::new(MemoryLedger::default()));
        let patience = RetryPolicy { attempts, first_pause: Duration::from_millis(20), longest_pause: Duration::from_secs(5) };
        let terms = ProviderConfig {
            retry_policy: patience,
            time_limit: Some(Duration::from_secs(4)),
            ..ProviderConfig::new(budget.clone(), ledger.clone(), Clock::system())
        };
        let provider = build_provider(&vendor.subject_file(&server.url), ApiKey::new(KEY), &terms, CassetteMode::Off).expect("a provider");
        Self { server, provider, budget, ledger }
    }
}

pub(crate) fn tools() -> Arc<[ToolListing]> {
    let tool = |name: &str| ToolListing {
        name: name.into(),
        description: format!("Does {name}."),
        input_schema: json!({ "type": "object", "properties": { "n": { "type": "integer" } } }).into(),
    };
    [tool("get.quote"), tool("send")].into()
}

pub(crate) fn model_call(n: u32, messages: Vec<ChatMessage>) -> ModelCall {
    let request = ModelRequest {
        model: "some-model".into(),
        system: "Be brief.".into(),
        messages,
        tools: tools(),
        choice: ToolChoice::Free,
        temperature: None,
        max_output: 500,
        extra: Map::new(),
    };
    ModelCall::new(CallId { trial: ContentHash::of_text("trial"), role: CallRole::Subject, n }, 7, request)
}

pub(crate) fn hello() -> Vec<ChatMessage> {
    vec![ChatMessage { by: MessageRole::User, blocks: vec![ContentBlock::text("Hi.")] }]
}

/// Returns the vendor name of `get.quote`, which ends with a hash.
pub(crate) fn vendor_quote_name() -> String {
    run::providers::VendorLimits { max_tools: None, max_name_len: 64 }.to_vendor_name("get.quote")
}

const MALFORMED_ARGS: &str = "{\"n\": 1";

fn anthropic(says: ReplyScenario) -> Value {
    let text = json!({ "type": "text", "text": "Hello" });
    let call = |id: &str, name: &str, input: Value| json!({ "type": "tool_use", "id": id, "name": name, "input": input });
    let (content, stop) = match says {
        ReplyScenario::Hello => (vec![text], "end_turn"),
        ReplyScenario::Calls => (
            vec![
                call("a", &vendor_quote_name(), json!({"n": 1})),
                call("b", &vendor_quote_name(), json!({})),
                call("c", "send", json!(MALFORMED_ARGS)),
            ],
            "tool_use",
        ),
        ReplyScenario::Thinks => {
            let thinking = json!({ "type": "thinking", "thinking": "Let me see", "signature": "sealed" });
            (vec![thinking, json!({ "type": "redacted_thinking", "data": "blob" }), call("a", "send", json!({}))], "tool_use")
        }
        ReplyScenario::Odd => {
            let used = json!({ "type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "x"} });
            (vec![used, json!({ "type": "web_search_tool_result", "tool_use_id": "s", "content": [] }), text], "end_turn")
        }
        ReplyScenario::Refuses => (vec![json!({ "type": "text", "text": "No." })], "refusal"),
        ReplyScenario::RunsOut => (vec![json!({ "type": "text", "text": "Hel" })], "max_tokens"),
    };
    json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "some-model-20261115", "content": content, "stop_reason": stop,
        "stop_sequence": null, "container": {"new": "field"},
        "usage": { "input_tokens": 30, "cache_read_input_tokens": 60, "cache_creation_input_tokens": 10, "output_tokens": 20, "service_tier": "standard" },
    })
}

fn event(data: &Value) -> String {
    format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap_or("message"))
}

fn anthropic_stream(whole: &Value) -> String {
    let mut start = whole.clone();
    start["content"] = json!([]);
    start["stop_reason"] = Value::Null;
    start["usage"]["output_tokens"] = json!(1);
    let mut out = event(&json!({ "type": "message_start", "message": start })) + &event(&json!({ "type": "ping" }));
    for (index, block) in whole["content"].as_array().expect("content").iter().enumerate() {
        let mut begun = block.clone();
        let mut deltas = vec![];
        match block["type"].as_str() {
            Some("text") => {
                begun["text"] = json!("");
                let text = block["text"].as_str().expect("text");
                let (a, b) = text.split_at(text.len() / 2);
                deltas.extend([a, b].map(|piece| json!({ "type": "text_delta", "text": piece })));
            }
            Some("thinking") => {
                begun["thinking"] = json!("");
                begun["signature"] = json!("");
                deltas.push(json!({ "type": "thinking_delta", "thinking": block["thinking"] }));
                deltas.push(json!({ "type": "signature_delta", "signature": block["signature"] }));
            }
            Some("tool_use") => {
                begun["input"] = json!({});
                let text = match &block["input"] {
                    Value::String(text) => text.clone(),
                    Value::Object(object) if object.is_empty() => String::new(),
                    other => other.to_string(),
                };
                let (a, b) = text.split_at(text.len() / 2);
                deltas.extend([a, b].map(|piece| json!({ "type": "input_json_delta", "partial_json": piece })));
            }
            _ => {}
        }
        out += &event(&json!({ "type": "content_block_start", "index": index, "content_block": begun }));
        for delta in deltas {
            out += &event(&json!({ "type": "content_block_delta", "index": index, "delta": delta }));
        }
        out += &event(&json!({ "type": "content_block_stop", "index": index }));
    }
    out += &event(&json!({ "type": "new_kind_of_event", "x": 1 }));
    let delta = json!({ "stop_reason": whole["stop_reason"], "stop_sequence": null });
    out += &event(&json!({ "type": "message_delta", "delta": delta, "usage": { "output_tokens": 20 } }));
    out + &event(&json!({ "type": "message_stop" }))
}

fn chat(says: ReplyScenario) -> Value {
    let call = |id: &str, name: &str, arguments: &str| json!({ "id": id, "type": "function", "function": { "name": name, "arguments": arguments } });
    let (message, finish) = match says {
        ReplyScenario::Hello => (json!({ "content": "Hello" }), "stop"),
        ReplyScenario::Calls => {
            let calls =
                [call("a", &vendor_quote_name(), "{\"n\":1}"), call("b", &vendor_quote_name(), ""), call("c", "send", MALFORMED_ARGS)];
            (json!({ "content": null, "tool_calls": calls }), "tool_calls")
        }
        ReplyScenario::Thinks => {
            (json!({ "content": null, "reasoning_content": "Let me see", "tool_calls": [call("a", "send", "{}")] }), "tool_calls")
        }
        ReplyScenario::Odd => (json!({ "content": "Hello", "annotations": [{"type": "url_citation"}] }), "stop"),
        ReplyScenario::Refuses => (json!({ "content": null, "refusal": "No." }), "stop"),
        ReplyScenario::RunsOut => (json!({ "content": "Hel" }), "length"),
    };
    let mut message = message;
    message["role"] = json!("assistant");
    json!({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "some-model-20261115", "system_fingerprint": "fp",
        "choices": [{ "index": 0, "message": message, "finish_reason": finish, "logprobs": null }],
        "usage": {
            "prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120,
            "prompt_tokens_details": { "cached_tokens": 60 }, "completion_tokens_details": { "reasoning_tokens": 5 },
        },
    })
}

fn chat_stream(whole: &Value) -> String {
    let message = whole["choices"][0]["message"].as_object().expect("a message").clone();
    let chunk = |choices: Value, usage: Value| {
        let data =
            json!({ "id": "chatcmpl-1", "object": "chat.completion.chunk", "model": whole["model"], "choices": choices, "usage": usage });
        format!("data: {data}\n\n")
    };
    let delta = |delta: Value| chunk(json!([{ "index": 0, "delta": delta, "finish_reason": null }]), Value::Null);
    let mut out = delta(json!({ "role": "assistant", "content": "" }));
    for (field, value) in message {
        match (field.as_str(), &value) {
            ("role", _) | (_, Value::Null) => {}
            ("tool_calls", Value::Array(calls)) => {
                for (index, call) in calls.iter().enumerate() {
                    let function = &call["function"];
                    let begun = json!({ "index": index, "id": call["id"], "type": "function", "function": { "name": function["name"], "arguments": "" } });
                    out += &delta(json!({ "tool_calls": [begun] }));
                    let text = function["arguments"].as_str().expect("text");
                    let (a, b) = text.split_at(text.len() / 2);
                    for piece in [a, b] {
                        out += &delta(json!({ "tool_calls": [{ "index": index, "function": { "arguments": piece } }] }));
                    }
                }
            }
            (_, Value::String(text)) => {
                let (a, b) = text.split_at(text.len() / 2);
                for piece in [a, b] {
                    out += &delta(json!({ field.as_str(): piece }));
                }
            }
            (_, other) => out += &delta(json!({ field.as_str(): other })),
        }
    }
    out += &chunk(json!([{ "index": 0, "delta": {}, "finish_reason": whole["choices"][0]["finish_reason"] }]), Value::Null);
    out += &chunk(json!([]), whole["usage"].clone());
    out + "data: [DONE]\n\n"
}

fn responses(says: ReplyScenario) -> Value {
    let said = |part: Value| json!({ "type": "message", "id": "msg_1", "status": "completed", "role": "assistant", "content": [part] });
    let text = |text: &str| said(json!({ "type": "output_text", "text": text, "annotations": [] }));
    let call = |id: &str, name: &str, arguments: &str| json!({ "type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": name, "arguments": arguments, "status": "completed" });
    let (output, status, why) = match says {
        ReplyScenario::Hello => (vec![text("Hello")], "completed", Value::Null),
        ReplyScenario::Calls => (
            vec![call("a", &vendor_quote_name(), "{\"n\":1}"), call("b", &vendor_quote_name(), ""), call("c", "send", MALFORMED_ARGS)],
            "completed",
            Value::Null,
        ),
        ReplyScenario::Thinks => {
            let reasoning = json!({ "type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Let me see"}], "encrypted_content": "sealed" });
            (vec![reasoning, call("a", "send", "{}")], "completed", Value::Null)
        }
        ReplyScenario::Odd => {
            (vec![json!({ "type": "web_search_call", "id": "ws_1", "status": "completed" }), text("Hello")], "completed", Value::Null)
        }
        ReplyScenario::Refuses => (vec![said(json!({ "type": "refusal", "refusal": "No." }))], "completed", Value::Null),
        ReplyScenario::RunsOut => (vec![text("Hel")], "incomplete", json!({ "reason": "max_output_tokens" })),
    };
    json!({
        "id": "resp_1", "object": "response", "status": status, "model": "some-model-20261115", "output": output, "error": null,
        "incomplete_details": why, "instructions": "Be brief.", "tools": [], "new_field": 1,
        "usage": {
            "input_tokens": 100, "input_tokens_details": { "cached_tokens": 60 }, "output_tokens": 20,
            "output_tokens_details": { "reasoning_tokens": 5 }, "total_tokens": 120,
        },
    })
}

fn responses_stream(whole: &Value) -> String {
    let mut out =
        event(&json!({ "type": "response.created", "response": { "id": "resp_1", "status": "in_progress" }, "sequence_number": 0 }));
    out += &event(&json!({ "type": "response.output_text.delta", "delta": "Hel", "output_index": 0, "sequence_number": 1 }));
    let last = if whole["status"] == "incomplete" { "response.incomplete" } else { "response.completed" };
    out + &event(&json!({ "type": last, "response": whole, "sequence_number": 2 }))
}

fn ollama(says: ReplyScenario) -> Value {
    let call = |name: &str, arguments: Value| json!({ "function": { "name": name, "arguments": arguments } });
    let (message, reason) = match says {
        ReplyScenario::Hello => (json!({ "content": "Hello" }), "stop"),
        // Names may contain a dot. Arguments are objects, but a model may still send text.
        ReplyScenario::Calls => {
            let name = run::providers::VendorLimits { max_tools: None, max_name_len: 256 }.to_vendor_name("get.quote");
            let calls = [call(&name, json!({"n": 1})), call(&name, json!({})), call("send", json!(MALFORMED_ARGS))];
            (json!({ "content": "", "tool_calls": calls }), "stop")
        }
        ReplyScenario::Thinks => (json!({ "content": "", "thinking": "Let me see", "tool_calls": [call("send", json!({}))] }), "stop"),
        ReplyScenario::Odd => (json!({ "content": "Hello", "citations": ["new field"] }), "stop"),
        ReplyScenario::Refuses => (json!({ "content": "No." }), "stop"),
        ReplyScenario::RunsOut => (json!({ "content": "Hel" }), "length"),
    };
    let mut message = message;
    message["role"] = json!("assistant");
    json!({
        "model": "some-model-20261115", "created_at": "2026-11-15T00:00:00Z", "message": message, "done_reason": reason, "done": true,
        "total_duration": 1, "prompt_eval_count": 100, "eval_count": 20,
    })
}

fn ollama_stream(whole: &Value) -> String {
    let line = |message: Value| format!("{}\n", json!({ "model": "some-model-20261115", "message": message, "done": false }));
    let message = &whole["message"];
    let mut out = String::new();
    if let Some(text) = message["thinking"].as_str() {
        out += &line(json!({ "role": "assistant", "content": "", "thinking": text }));
    }
    let text = message["content"].as_str().expect("content");
    let (a, b) = text.split_at(text.len() / 2);
    for piece in [a, b] {
        out += &line(json!({ "role": "assistant", "content": piece }));
    }
    for call in message["tool_calls"].as_array().into_iter().flatten() {
        out += &line(json!({ "role": "assistant", "content": "", "tool_calls": [call] }));
    }
    let mut last = whole.clone();
    let mut rest = message.as_object().expect("a message").clone();
    rest.retain(|key, _| !matches!(key.as_str(), "content" | "thinking" | "tool_calls"));
    rest.insert("content".into(), json!(""));
    last["message"] = Value::Object(rest);
    out + &format!("{last}\n")
}
