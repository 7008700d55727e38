//! Fuzz tests of the wire formats: arbitrary JSON, whole or as a stream, is parsed or rejected without a panic.

use super::anthropic::AnthropicWire;
use super::chat::{ChatMessage, ContentBlock, MessageRole, ModelCall, ModelRequest};
use super::fixtures;
use super::ollama::OllamaWire;
use super::openai_chat::OpenAiChatWire;
use super::openai_responses::OpenAiResponsesWire;
use super::wire::WireFormat;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

const WIRES: [&dyn WireFormat; 5] =
    [&AnthropicWire, &OpenAiChatWire::OpenAi, &OpenAiChatWire::Compatible, &OpenAiResponsesWire, &OllamaWire];

/// Field names and values of all wire formats, so that generated replies pass the first checks.
const WIRE_WORDS: &[&str] = &[
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

fn wire_word() -> impl Strategy<Value = String> {
    proptest::sample::select(WIRE_WORDS).prop_map(str::to_owned)
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        4 => wire_word().prop_map(Value::String),
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
            3 => proptest::collection::vec((wire_word(), inner), 0..8).prop_map(|entries| Value::Object(entries.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

fn encode_as_history(wire: &dyn WireFormat, blocks: Vec<ContentBlock>) {
    let plain = fixtures::model_call("hello");
    let messages = [MessageRole::User, MessageRole::Model, MessageRole::User].map(|by| ChatMessage { by, blocks: blocks.clone() }).to_vec();
    let ask = ModelCall::new(plain.call.clone(), 1, ModelRequest { messages, ..plain.request().clone() });
    assert!(wire.request_body(&ask, true).is_object());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn parse_reply_never_panics_on_arbitrary_json(reply in any_json()) {
        for wire in WIRES {
            if let Value::Object(reply) = &reply
                && let Ok(read) = wire.parse_reply(reply.clone())
            {
                encode_as_history(wire, read.blocks);
            }
        }
    }

    #[test]
    fn assemble_stream_never_panics_on_arbitrary_events(events in proptest::collection::vec(any_json(), 0..6), raw in "[\\PC\n]{0,40}") {
        let lines = |prefix: &str, end: &str| events.iter().map(|event| format!("{prefix}{event}{end}")).collect::<String>();
        for wire in WIRES {
            for text in [lines("data: ", "\n\n") + "data: [DONE]\n\n", lines("", "\n"), raw.clone(), format!("data: {raw}\n\n")] {
                if let Ok(Value::Object(whole)) = wire.assemble_stream(&text)
                    && let Ok(read) = wire.parse_reply(whole)
                {
                    encode_as_history(wire, read.blocks);
                }
            }
        }
    }
}
