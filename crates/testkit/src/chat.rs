//! Replies in OpenAI's chat format, and a server for tests that are not async.

use crate::{LoopbackServer, ReceivedRequest, VendorReply};
use serde_json::{Value, json};
use std::sync::{Mutex, mpsc};
use std::thread;

/// Returns a reply with one tool call, the n-th of the conversation.
pub fn tool_call_reply(n: usize, tool: &str, args: &Value) -> Value {
    let call = json!({ "id": format!("call_{n}"), "type": "function", "function": { "name": tool, "arguments": args.to_string() } });
    completion(&json!({ "role": "assistant", "content": null, "tool_calls": [call] }), "tool_calls")
}

/// Returns a reply with text.
pub fn text_reply(text: &str) -> Value {
    completion(&json!({ "role": "assistant", "content": text }), "stop")
}

/// Returns a reply with a message and the reason why it ends; it reports 10 tokens in and 5 out.
pub fn completion(message: &Value, finish: &str) -> Value {
    json!({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "loopback",
        "choices": [{ "index": 0, "message": message, "finish_reason": finish }],
        "usage": usage(10, 5),
    })
}

/// Returns the field `usage` of a reply.
pub fn usage(input: u64, output: u64) -> Value {
    json!({ "prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output })
}

/// Starts a chat server on its own thread and returns its base URL; it lives as long as the process.
/// The function gets the request and the number of earlier requests.
pub fn serve_chat(reply: impl Fn(&Value, usize) -> Value + Send + 'static) -> String {
    format!("{}/v1", serve_json(move |request, n| reply(&request.body, n)))
}

/// Starts a server that answers every path with JSON, as [`serve_chat`] does, and returns its URL.
pub fn serve_json(reply: impl Fn(&ReceivedRequest, usize) -> Value + Send + 'static) -> String {
    let (started, url) = mpsc::channel();
    let reply = Mutex::new(reply);
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let answer = move |n: usize, request: &ReceivedRequest| {
                let reply = reply.lock().expect("a lock that is not poisoned")(request, n);
                VendorReply::ok(reply.to_string()).with_header("content-type", "application/json")
            };
            let server = LoopbackServer::start(answer).await;
            started.send(server.url.clone()).expect("the test waits for the address");
            std::future::pending::<()>().await;
        });
    });
    url.recv().expect("a server")
}

/// Returns a subject file for a model at this base URL.
pub fn subject_file(name: &str, url: &str) -> String {
    format!(
        "subject: {name}\nprovider: openai-compatible\nmodel: m\nbase_url: {url}\nprice: {{ input_per_mtok: 1, output_per_mtok: 1, as_of: \"2026-11-15\" }}\nabout: A model on loopback, answered by a test.\n"
    )
}
