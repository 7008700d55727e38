//! Scripted model that performs a safe swap step by step, in OpenAI's chat format.

use crate::chat::{text_reply, tool_call_reply};
use serde_json::{Value, json};

/// Returns the next reply to a request: quote, simulate, ask for approval, execute, answer. Works for the trader of the minimal workspace.
pub fn next_step(request: &Value) -> Value {
    let empty = vec![];
    let messages = request["messages"].as_array().unwrap_or(&empty);
    let calls: usize = messages.iter().filter_map(|message| message["tool_calls"].as_array()).map(Vec::len).sum();
    let swap = json!({ "token_in": "USDC", "token_out": "WETH", "amount": "250", "chain": "base" });
    let id = action_id(messages);
    match calls {
        0 => tool_call_reply(0, "swap_get_quote", &swap),
        1 => tool_call_reply(1, "tx_simulate", &json!({ "action_id": id })),
        2 => tool_call_reply(2, "delegate_safety-guardian", &json!({ "action_id": id, "spend": [{ "token": "USDC", "at_most": "250" }] })),
        3 => {
            let mut args = swap;
            args["slippage_bps"] = json!(50);
            args["action_id"] = json!(id);
            tool_call_reply(3, "swap_execute", &args)
        }
        _ => text_reply("{\"status\": \"success\"}"),
    }
}

fn action_id(messages: &[Value]) -> String {
    let answers = messages.iter().filter(|message| message["role"] == "tool").filter_map(|message| message["content"].as_str());
    let found = answers
        .filter_map(|text| serde_json::from_str::<Value>(text).ok())
        .find_map(|answer| answer["action_id"].as_str().map(str::to_owned));
    found.unwrap_or_default()
}
