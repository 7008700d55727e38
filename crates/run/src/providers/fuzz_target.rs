//! Entry point of fuzzers: a reply of any vendor, whole or as a stream.

use super::anthropic::AnthropicWire;
use super::ollama::OllamaWire;
use super::openai_chat::OpenAiChatWire;
use super::openai_responses::OpenAiResponsesWire;
use super::wire::{WireFormat, expect_object};
use super::{ModelReply, ProviderFault};

const WIRES: [&dyn WireFormat; 5] =
    [&AnthropicWire, &OpenAiChatWire::OpenAi, &OpenAiChatWire::Compatible, &OpenAiResponsesWire, &OllamaWire];

/// Parses a text as a reply of every vendor, whole and as a stream. A parsed reply must survive the journal.
///
/// # Panics
/// If a stored reply is not read again as it was.
pub fn parse_any_reply(text: &str) {
    for wire in WIRES {
        let whole = serde_json::from_str(text).map_err(|error| ProviderFault::garbled(error.to_string()));
        for body in [whole, wire.assemble_stream(text)] {
            let parsed = body.and_then(|body| expect_object(body, "the reply")).and_then(|body| wire.parse_reply(body));
            if let Ok(reply) = parsed {
                let again = ModelReply::from_json(&reply.to_json());
                assert!(again.is_ok_and(|again| again.to_json() == reply.to_json()), "{}", reply.to_json());
            }
        }
    }
}
