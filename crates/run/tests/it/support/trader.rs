//! A model that trades: it reads the conversation it is sent in OpenAI's chat format and makes the next step of a safe swap.

#![allow(dead_code, unreachable_pub, reason = "every user needs another part of it, and has it inside")]

use serde_json::{Value, json};

/// Quote, simulate, have it approved, execute, answer: for the trader of the minimal workspace.
pub fn next_step(request: &Value) -> Value {
    let empty = vec![];
    let messages = request["messages"].as_array().unwrap_or(&empty);
    let calls: usize = messages.iter().filter_map(|message| message["tool_calls"].as_array()).map(Vec::len).sum();
    let swap = json!({ "token_in": "USDC", "token_out": "WETH", "amount": "250", "chain": "base" });
    let id = action_id(messages);
    match calls {
        0 => call(0, "swap_get_quote", &swap),
        1 => call(1, "tx_simulate", &json!({ "action_id": id })),
        2 => call(2, "delegate_safety-guardian", &json!({ "action_id": id, "spend": [{ "token": "USDC", "at_most": "250" }] })),
        3 => {
            let mut args = swap;
            args["slippage_bps"] = json!(50);
            args["action_id"] = json!(id);
            call(3, "swap_execute", &args)
        }
        _ => completion(&json!({ "role": "assistant", "content": "{\"status\": \"success\"}" }), "stop"),
    }
}

fn action_id(messages: &[Value]) -> String {
    let answers = messages.iter().filter(|message| message["role"] == "tool").filter_map(|message| message["content"].as_str());
    let found = answers
        .filter_map(|text| serde_json::from_str::<Value>(text).ok())
        .find_map(|answer| answer["action_id"].as_str().map(str::to_owned));
    found.unwrap_or_default()
}

pub fn call(n: usize, tool: &str, args: &Value) -> Value {
    let call = json!({ "id": format!("call_{n}"), "type": "function", "function": { "name": tool, "arguments": args.to_string() } });
    completion(&json!({ "role": "assistant", "content": null, "tool_calls": [call] }), "tool_calls")
}

pub fn completion(message: &Value, finish: &str) -> Value {
    json!({
        "id": "chatcmpl-1", "object": "chat.completion", "model": "loopback",
        "choices": [{ "index": 0, "message": message, "finish_reason": finish }],
        "usage": { "prompt_tokens": 1000, "completion_tokens": 30, "total_tokens": 1030 },
    })
}
