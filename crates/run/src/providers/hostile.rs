//! Replies from hell: whatever JSON a server sends, in one piece or in events, is read or refused, and never breaks us.

use super::anthropic::Anthropic;
use super::example;
use super::ollama::Ollama;
use super::openai_chat::Chat;
use super::openai_responses::Responses;
use super::talk::{Ask, Block, By, Message, Request};
use super::wire::Wire;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

const WIRES: [&dyn Wire; 5] = [&Anthropic, &Chat::OpenAi, &Chat::Compatible, &Responses, &Ollama];

/// The words of all wires, so that made-up replies get past the first look.
const WORDS: &[&str] = &[
    "type",
    "content",
    "text",
    "thinking",
    "signature",
    "tool_use",
    "id",
    "name",
    "input",
    "usage",
    "input_tokens",
    "output_tokens",
    "stop_reason",
    "message_start",
    "message",
    "content_block_start",
    "content_block",
    "content_block_delta",
    "index",
    "delta",
    "text_delta",
    "input_json_delta",
    "partial_json",
    "message_delta",
    "message_stop",
    "error",
    "choices",
    "finish_reason",
    "stop",
    "tool_calls",
    "function",
    "arguments",
    "role",
    "refusal",
    "reasoning_content",
    "output",
    "output_text",
    "function_call",
    "call_id",
    "reasoning",
    "summary",
    "status",
    "completed",
    "incomplete",
    "incomplete_details",
    "reason",
    "response",
    "response.completed",
    "done",
    "done_reason",
    "prompt_eval_count",
    "eval_count",
    "model",
];

fn word() -> impl Strategy<Value = String> {
    proptest::sample::select(WORDS).prop_map(str::to_owned)
}

fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        4 => word().prop_map(Value::String),
        1 => Just(Value::Null),
        1 => any::<bool>().prop_map(Value::Bool),
        2 => any::<i64>().prop_map(|n| json!(n)),
        1 => any::<u64>().prop_map(|n| json!(n)),
        1 => any::<f64>().prop_map(|n| json!(n)),
        1 => "[\\PC]{0,8}".prop_map(Value::String),
        1 => Just(json!("{\"a\":")),
    ];
    leaf.prop_recursive(6, 64, 6, |inner| {
        prop_oneof![
            1 => proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::Array),
            3 => proptest::collection::vec((word(), inner), 0..8).prop_map(|entries| Value::Object(entries.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

fn said_back(wire: &dyn Wire, blocks: Vec<Block>) {
    let plain = example::ask("hello");
    let messages = [By::User, By::Model, By::User].map(|by| Message { by, blocks: blocks.clone() }).to_vec();
    let ask = Ask::new(plain.call.clone(), 1, Request { messages, ..plain.request().clone() });
    assert!(wire.body(&ask, true).is_object());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_reply_in_one_piece_is_read_or_refused(reply in anything()) {
        for wire in WIRES {
            if let Value::Object(reply) = &reply
                && let Ok(read) = wire.read(reply.clone())
            {
                said_back(wire, read.blocks);
            }
        }
    }

    #[test]
    fn a_stream_is_read_or_refused(events in proptest::collection::vec(anything(), 0..6), raw in "[\\PC\n]{0,40}") {
        let lines = |prefix: &str, end: &str| events.iter().map(|event| format!("{prefix}{event}{end}")).collect::<String>();
        for wire in WIRES {
            for text in [lines("data: ", "\n\n") + "data: [DONE]\n\n", lines("", "\n"), raw.clone(), format!("data: {raw}\n\n")] {
                if let Ok(Value::Object(whole)) = wire.assemble(&text)
                    && let Ok(read) = wire.read(whole)
                {
                    said_back(wire, read.blocks);
                }
            }
        }
    }
}
