//! Replies with one tool call in each wire format, whole and streamed, with token counts that the test chooses.

use model::ProviderKind;
use serde_json::{Value, json};
use testkit::chat;

pub(super) const WIRES: [HostileWire; 4] = [HostileWire::Chat, HostileWire::Anthropic, HostileWire::Responses, HostileWire::Ollama];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HostileWire {
    Chat,
    Anthropic,
    Responses,
    Ollama,
}

/// Token counts as the vendor writes them; `None` leaves the field out.
#[derive(Debug, Clone)]
pub(super) struct ReportedCounts {
    pub(super) input: Option<Value>,
    pub(super) output: Option<Value>,
}

impl HostileWire {
    /// Returns the provider of subjects and the path of its base URL.
    pub(super) fn provider(self) -> (ProviderKind, &'static str) {
        match self {
            HostileWire::Chat => (ProviderKind::OpenAiCompatible, "/v1"),
            HostileWire::Anthropic => (ProviderKind::Anthropic, ""),
            HostileWire::Responses => (ProviderKind::OpenAi, "/v1"),
            HostileWire::Ollama => (ProviderKind::Ollama, ""),
        }
    }

    /// Returns the output tokens that a request allows.
    pub(super) fn allowed_tokens(self, request: &Value) -> u64 {
        let paths: &[&str] = match self {
            HostileWire::Chat => &["/max_tokens", "/max_completion_tokens"],
            HostileWire::Anthropic => &["/max_tokens"],
            HostileWire::Responses => &["/max_output_tokens"],
            HostileWire::Ollama => &["/options/num_predict"],
        };
        paths.iter().find_map(|path| request.pointer(path).and_then(Value::as_u64)).unwrap()
    }

    /// Returns the names of the counts of input and output.
    fn count_names(self) -> [&'static str; 2] {
        match self {
            HostileWire::Chat => ["prompt_tokens", "completion_tokens"],
            HostileWire::Anthropic | HostileWire::Responses => ["input_tokens", "output_tokens"],
            HostileWire::Ollama => ["prompt_eval_count", "eval_count"],
        }
    }

    /// Returns the body of the n-th reply. Without counts it has no usage at all.
    pub(super) fn reply_body(self, n: usize, counts: Option<&ReportedCounts>, stream: bool) -> String {
        let usage = counts.map(|counts| {
            let [input, output] = self.count_names();
            let fields = [(input, &counts.input), (output, &counts.output)];
            Value::Object(fields.into_iter().filter_map(|(name, count)| Some((name.to_owned(), count.clone()?))).collect())
        });
        let (tool, args) = ("wallet_get_balance", json!({ "token": "USDC", "chain": "base" }));
        match self {
            HostileWire::Chat => {
                let mut body = chat::tool_call_reply(n, tool, &args);
                set_usage(&mut body, usage);
                if stream { chat_stream(&body) } else { body.to_string() }
            }
            HostileWire::Anthropic => {
                let call = json!({ "type": "tool_use", "id": format!("call_{n}"), "name": tool, "input": args });
                let mut body = json!({ "id": "msg_1", "type": "message", "role": "assistant", "model": "hostile", "content": [call], "stop_reason": "tool_use" });
                set_usage(&mut body, usage);
                if stream { anthropic_stream(&body) } else { body.to_string() }
            }
            HostileWire::Responses => {
                let call = json!({ "type": "function_call", "id": "fc_1", "call_id": format!("call_{n}"), "name": tool, "arguments": args.to_string(), "status": "completed" });
                let mut body = json!({ "id": "resp_1", "object": "response", "status": "completed", "model": "hostile", "output": [call], "error": null });
                set_usage(&mut body, usage);
                let last = json!({ "type": "response.completed", "response": body });
                if stream { event(&last) } else { body.to_string() }
            }
            HostileWire::Ollama => {
                let call = json!({ "function": { "name": tool, "arguments": args } });
                let message = json!({ "role": "assistant", "content": "", "tool_calls": [call] });
                let mut last = json!({ "model": "hostile", "message": message, "done_reason": "stop", "done": true });
                if let Some(Value::Object(counts)) = usage {
                    last.as_object_mut().unwrap().extend(counts);
                }
                let first = json!({ "model": "hostile", "message": { "role": "assistant", "content": "" }, "done": false });
                if stream { format!("{first}\n{last}\n") } else { last.to_string() }
            }
        }
    }
}

fn set_usage(body: &mut Value, usage: Option<Value>) {
    match usage {
        Some(usage) => body["usage"] = usage,
        None => drop(body.as_object_mut().unwrap().remove("usage")),
    }
}

fn event(data: &Value) -> String {
    format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap())
}

/// The call in two parts, then the counts.
fn chat_stream(body: &Value) -> String {
    let call = &body["choices"][0]["message"]["tool_calls"][0];
    let head = json!({ "id": "x", "choices": [{ "index": 0, "delta": { "role": "assistant", "tool_calls": [{ "index": 0, "id": call["id"], "type": "function",
        "function": { "name": call["function"]["name"], "arguments": "" } }] } }] });
    let rest = json!({ "id": "x", "choices": [{ "index": 0, "delta": { "tool_calls": [{ "index": 0, "function": { "arguments": call["function"]["arguments"] } }] } }] });
    let stop = json!({ "id": "x", "choices": [{ "index": 0, "delta": {}, "finish_reason": "tool_calls" }] });
    let mut chunks = vec![head, rest, stop];
    chunks.extend(body.get("usage").map(|usage| json!({ "id": "x", "choices": [], "usage": usage })));
    let lines: String = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
    format!("{lines}data: [DONE]\n\n")
}

/// The counts come in two events, as the vendor sends them: input at the start, output at the end.
fn anthropic_stream(body: &Value) -> String {
    let call = &body["content"][0];
    let mut start = body.clone();
    start["content"] = json!([]);
    let mut delta = json!({ "type": "message_delta", "delta": { "stop_reason": "tool_use" } });
    if let Some(usage) = start.get_mut("usage").and_then(Value::as_object_mut)
        && let Some(output) = usage.remove("output_tokens")
    {
        delta["usage"] = json!({ "output_tokens": output });
    }
    [
        json!({ "type": "message_start", "message": start }),
        json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "tool_use", "id": call["id"], "name": call["name"], "input": {} } }),
        json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "input_json_delta", "partial_json": call["input"].to_string() } }),
        json!({ "type": "content_block_stop", "index": 0 }),
        delta,
        json!({ "type": "message_stop" }),
    ]
    .iter()
    .map(event)
    .collect()
}
