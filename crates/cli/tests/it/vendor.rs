//! A vendor of models on loopback that speaks the chat API of OpenAI-compatible servers and answers as a test says.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

/// Starts it and returns its base URL. It is told the request and how many came before, and lives as long as the tests do.
pub(crate) fn vendor(answer: impl Fn(&Value, usize) -> Value + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    thread::spawn(move || {
        for (n, stream) in listener.incoming().flatten().enumerate() {
            serve(stream, |request| answer(request, n));
        }
    });
    url
}

fn serve(mut stream: TcpStream, answer: impl Fn(&Value) -> Value) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 || line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    if reader.read_exact(&mut body).is_err() {
        return;
    }
    let reply = answer(&serde_json::from_slice(&body).unwrap_or_default()).to_string();
    let head = format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", reply.len());
    drop(stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(reply.as_bytes())));
}

/// A reply with one call.
pub(crate) fn calls(tool: &str, args: &Value) -> Value {
    let call = json!({ "id": "call_1", "type": "function", "function": { "name": tool, "arguments": args.to_string() } });
    reply("tool_calls", json!({ "role": "assistant", "content": null, "tool_calls": [call] }))
}

pub(crate) fn says(text: &str) -> Value {
    reply("stop", json!({ "role": "assistant", "content": text }))
}

fn reply(reason: &str, message: Value) -> Value {
    let usage = json!({ "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15 });
    json!({ "id": "r1", "object": "chat.completion", "created": 1, "model": "m", "choices": [{ "index": 0, "message": message, "finish_reason": reason }], "usage": usage })
}

/// A subject file for a model at that address.
pub(crate) fn subject(name: &str, url: &str) -> String {
    format!(
        "subject: {name}\nprovider: openai-compatible\nmodel: m\nbase_url: {url}\nprice: {{ input_per_mtok: 1, output_per_mtok: 1, as_of: \"2026-11-15\" }}\nabout: A model on loopback that a test answers for, nobody else.\n"
    )
}
