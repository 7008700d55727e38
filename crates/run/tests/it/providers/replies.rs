//! Replies of every vendor are parsed to the same form and sent back in the vendor's format.

use crate::providers::vendor_cases::{
    KEY, ProviderFixture, ReplyScenario, VendorCase, WireName, all_vendors, hello, model_call, vendor_quote_name,
};
use model::Money;
use run::providers::{
    CallArguments, ChatMessage, ContentBlock, MessageRole, ModelCall, ModelReply, ModelRequest, Provider, StopReason, TokenUsage,
    ToolChoice,
};
use serde_json::{Value, json};
use testkit::VendorReply;

async fn ask_vendor(vendor: VendorCase, says: ReplyScenario) -> (ModelReply, ProviderFixture) {
    let body = vendor.reply_body(says);
    let bench = ProviderFixture::open(vendor, 1, move |_, _| {
        VendorReply::ok(body.clone()).with_header("request-id", "req_1").with_header("x-request-id", "req_1")
    })
    .await;
    let reply = bench.provider.ask(&model_call(0, hello())).await.unwrap_or_else(|fault| panic!("{vendor:?} {says:?}: {fault}"));
    (reply, bench)
}

#[tokio::test]
async fn every_vendor_reply_has_text_usage_and_request_id() {
    for vendor in all_vendors() {
        let (reply, bench) = ask_vendor(vendor, ReplyScenario::Hello).await;
        assert_eq!((reply.text().as_str(), &reply.stop), ("Hello", &StopReason::End), "{vendor:?}");
        assert_eq!(reply.model, "some-model-20261115", "{vendor:?}");
        assert_eq!(reply.request_id.as_deref(), Some("req_1"), "{vendor:?}");
        let usage = reply.usage.expect("usage");
        let cached = match vendor.wire {
            WireName::Anthropic => TokenUsage { cache_read: 60, cache_write: 10, ..TokenUsage::default() },
            WireName::Chat | WireName::Compatible | WireName::Responses => {
                TokenUsage { cache_read: 60, reasoning: 5, ..TokenUsage::default() }
            }
            WireName::Ollama => TokenUsage::default(),
        };
        assert_eq!(usage, TokenUsage { input: 100, output: 20, ..cached }, "{vendor:?}");
        // 30 × 2 + 60 × 1 + 10 × 3 + 20 × 10, 40 × 2 + 60 × 1 + 200, 100 × 2 + 200, in millionths of a dollar.
        let paid = match vendor.wire {
            WireName::Anthropic => 350_000,
            WireName::Chat | WireName::Compatible | WireName::Responses => 340_000,
            WireName::Ollama => 400_000,
        };
        assert_eq!(bench.budget.spent(), Money::from_nanos(paid), "{vendor:?}");
        assert_eq!(bench.ledger.entries().spent(), Money::from_nanos(paid), "{vendor:?}");
    }
}

#[tokio::test]
async fn tool_calls_keep_tool_names_and_malformed_args() {
    for vendor in all_vendors() {
        let (reply, _bench) = ask_vendor(vendor, ReplyScenario::Calls).await;
        assert_eq!(reply.stop, StopReason::Calls, "{vendor:?}");
        let calls: Vec<(&str, &CallArguments)> = reply
            .blocks
            .iter()
            .filter_map(|block| match block {
                ContentBlock::Call { tool, args, .. } => Some((tool.as_str(), args)),
                _ => None,
            })
            .collect();
        let object = |value: Value| CallArguments::Object(value.as_object().cloned().unwrap());
        let expected = [
            ("get.quote", object(json!({"n": 1}))),
            ("get.quote", object(json!({}))),
            ("send", CallArguments::Malformed("{\"n\": 1".into())),
        ];
        assert_eq!(calls, expected.iter().map(|(name, args)| (*name, args)).collect::<Vec<_>>(), "{vendor:?}");
    }
}

#[tokio::test]
async fn request_follows_wire_format_with_key_in_one_header() {
    for vendor in all_vendors() {
        let (_, bench) = ask_vendor(vendor, ReplyScenario::Hello).await;
        let seen = &bench.server.requests()[0];
        assert_eq!(seen.path, vendor.path(), "{vendor:?}");
        assert_eq!(seen.header("content-type"), Some("application/json"));
        assert!(!seen.raw.contains(KEY), "{vendor:?}");
        let holders: Vec<&str> = seen.headers.iter().filter(|(_, value)| value.contains(KEY)).map(|(name, _)| name.as_str()).collect();
        let body = &seen.body;
        let streams = body["stream"] == json!(true);
        assert_eq!(streams, vendor.stream, "{vendor:?}");
        match vendor.wire {
            WireName::Anthropic => {
                assert_eq!(holders, ["x-api-key"]);
                assert_eq!(seen.header("anthropic-version"), Some("2023-06-01"));
                assert_eq!(body["max_tokens"], 500);
                assert_eq!(body["system"][0], json!({ "type": "text", "text": "Be brief.", "cache_control": { "type": "ephemeral" } }));
                assert_eq!(body["tools"][0]["name"], json!(vendor_quote_name()));
                assert!(body["tools"][0].get("cache_control").is_none());
                assert_eq!(body["tools"][1]["cache_control"], json!({ "type": "ephemeral" }));
                assert_eq!(body["messages"], json!([{ "role": "user", "content": [{ "type": "text", "text": "Hi." }] }]));
            }
            WireName::Chat | WireName::Compatible => {
                assert_eq!(holders, ["authorization"]);
                let limit = if vendor.wire == WireName::Chat { "max_completion_tokens" } else { "max_tokens" };
                assert_eq!(body[limit], 500);
                assert_eq!(body["messages"], json!([{ "role": "system", "content": "Be brief." }, { "role": "user", "content": "Hi." }]));
                assert_eq!(body["tools"][0]["function"]["name"], json!(vendor_quote_name()));
                assert_eq!(body["stream_options"]["include_usage"] == json!(true), vendor.stream);
            }
            WireName::Responses => {
                assert_eq!(holders, ["authorization"]);
                assert_eq!(
                    (&body["max_output_tokens"], &body["store"], &body["instructions"]),
                    (&json!(500), &json!(false), &json!("Be brief."))
                );
                assert_eq!(body["include"], json!(["reasoning.encrypted_content"]));
                assert_eq!(body["input"][0]["content"], json!([{ "type": "input_text", "text": "Hi." }]));
                assert_eq!(body["tools"][0]["name"], json!(vendor_quote_name()));
            }
            WireName::Ollama => {
                assert_eq!(body["options"]["num_predict"], 500);
                assert_eq!(body["options"]["seed"], 7);
                assert_eq!(body["messages"][1], json!({ "role": "user", "content": "Hi." }));
            }
        }
    }
}

/// The second request sends the first reply back in the vendor's format.
#[tokio::test]
async fn thinking_calls_and_results_are_sent_back_per_vendor() {
    for vendor in all_vendors() {
        let (reply, bench) = ask_vendor(vendor, ReplyScenario::Thinks).await;
        let thought = reply.blocks.iter().any(|block| matches!(block, ContentBlock::Thinking { text, .. } if text == "Let me see"));
        assert!(thought, "{vendor:?} {reply:?}");
        let mut said = reply.blocks.clone();
        for block in &mut said {
            if let ContentBlock::Call { id, .. } = block {
                *id = "a".into();
            }
        }
        let answer = ContentBlock::Answer { id: "a".into(), text: "sent".into(), is_error: false };
        let more = ChatMessage { by: MessageRole::User, blocks: vec![answer, ContentBlock::text("And now?")] };
        let messages = hello().into_iter().chain([ChatMessage { by: MessageRole::Model, blocks: said }, more]).collect();
        bench.provider.ask(&model_call(1, messages)).await.unwrap();
        let body = bench.server.requests()[1].body.clone();
        match vendor.wire {
            WireName::Anthropic => {
                let back = body["messages"][1]["content"].as_array().unwrap();
                assert_eq!(back[0], json!({ "type": "thinking", "thinking": "Let me see", "signature": "sealed" }), "{vendor:?}");
                assert_eq!(back[1], json!({ "type": "redacted_thinking", "data": "blob" }));
                assert_eq!(back[2], json!({ "type": "tool_use", "id": "a", "name": "send", "input": {} }));
                let result = json!({ "type": "tool_result", "tool_use_id": "a", "content": "sent", "is_error": false });
                let last = json!({ "type": "text", "text": "And now?", "cache_control": { "type": "ephemeral" } });
                assert_eq!(body["messages"][2]["content"], json!([result, last]));
            }
            WireName::Chat | WireName::Compatible => {
                let back = &body["messages"][2];
                assert_eq!(back["reasoning_content"], "Let me see", "{vendor:?}");
                assert_eq!(
                    back["tool_calls"],
                    json!([{ "id": "a", "type": "function", "function": { "name": "send", "arguments": "{}" } }])
                );
                assert_eq!(body["messages"][3], json!({ "role": "tool", "tool_call_id": "a", "content": "sent" }));
                assert_eq!(body["messages"][4], json!({ "role": "user", "content": "And now?" }));
            }
            WireName::Responses => {
                let back = body["input"].as_array().unwrap();
                assert_eq!((&back[1]["type"], &back[1]["encrypted_content"]), (&json!("reasoning"), &json!("sealed")), "{vendor:?}");
                assert!(back[1].get("id").is_none());
                assert_eq!(back[2], json!({ "type": "function_call", "call_id": "a", "name": "send", "arguments": "{}" }));
                assert_eq!(back[3], json!({ "type": "function_call_output", "call_id": "a", "output": "sent" }));
                assert_eq!(back[4]["content"][0]["text"], "And now?");
            }
            WireName::Ollama => {
                assert_eq!(body["messages"][2]["thinking"], "Let me see", "{vendor:?}");
                assert_eq!(body["messages"][2]["tool_calls"], json!([{ "function": { "name": "send", "arguments": {} } }]));
                assert_eq!(body["messages"][3], json!({ "role": "tool", "tool_name": "send", "content": "sent" }));
            }
        }
    }
}

#[tokio::test]
async fn unknown_blocks_and_fields_are_kept() {
    for vendor in all_vendors() {
        let (reply, bench) = ask_vendor(vendor, ReplyScenario::Odd).await;
        assert_eq!(reply.text(), "Hello", "{vendor:?}");
        let kept = reply.to_json();
        let strange = match vendor.wire {
            WireName::Anthropic => vec!["web_search_tool_result", "server_tool_use", "container"],
            WireName::Chat | WireName::Compatible => vec!["url_citation", "chatcmpl-1"],
            WireName::Responses => vec!["web_search_call", "new_field"],
            WireName::Ollama => vec!["citations", "total_duration"],
        };
        for word in strange {
            assert!(kept.contains(word), "{vendor:?} lost {word}: {kept}");
        }
        // Unknown blocks are sent back in place to vendors that support them.
        let messages = hello().into_iter().chain([ChatMessage { by: MessageRole::Model, blocks: reply.blocks }]).chain(hello()).collect();
        bench.provider.ask(&model_call(1, messages)).await.unwrap();
        let back = bench.server.requests()[1].raw.clone();
        match vendor.wire {
            WireName::Anthropic => assert!(back.contains("web_search_tool_result")),
            WireName::Responses => assert!(back.contains("web_search_call")),
            WireName::Chat | WireName::Compatible | WireName::Ollama => {}
        }
    }
}

#[tokio::test]
async fn refusals_and_max_tokens_set_the_stop_reason() {
    for vendor in all_vendors() {
        let (reply, _bench) = ask_vendor(vendor, ReplyScenario::RunsOut).await;
        assert_eq!((reply.stop, reply.blocks), (StopReason::MaxTokens, reply_text(vendor, "Hel")), "{vendor:?}");
        if vendor.wire != WireName::Ollama {
            let (reply, _bench) = ask_vendor(vendor, ReplyScenario::Refuses).await;
            assert_eq!((reply.text().as_str(), reply.stop), ("No.", StopReason::Refused), "{vendor:?}");
        }
    }
}

fn reply_text(vendor: VendorCase, text: &str) -> Vec<ContentBlock> {
    let rest = match vendor.wire {
        WireName::Responses => json!({ "id": "msg_1", "status": "completed" }).as_object().cloned().unwrap(),
        WireName::Anthropic | WireName::Chat | WireName::Compatible | WireName::Ollama => serde_json::Map::new(),
    };
    vec![ContentBlock::Text { text: text.into(), rest }]
}

#[tokio::test]
async fn tool_choice_forces_a_call() {
    for vendor in all_vendors() {
        let body = vendor.reply_body(ReplyScenario::Calls);
        let bench = ProviderFixture::open(vendor, 1, move |_, _| VendorReply::ok(body.clone())).await;
        let free = model_call(0, hello());
        let forced = ModelRequest { choice: ToolChoice::Forced("get.quote".into()), ..free.request().clone() };
        bench.provider.ask(&ModelCall::new(free.call, 7, forced)).await.unwrap();
        let body = bench.server.requests()[0].body.clone();
        match vendor.wire {
            WireName::Anthropic => {
                assert_eq!((&body["tool_choice"]["type"], &body["tool_choice"]["name"]), (&json!("tool"), &json!(vendor_quote_name())));
            }
            WireName::Chat | WireName::Compatible => assert_eq!(body["tool_choice"]["function"]["name"], json!(vendor_quote_name())),
            WireName::Responses => assert_eq!(body["tool_choice"], json!({ "type": "function", "name": vendor_quote_name() })),
            WireName::Ollama => assert_eq!(body["tools"].as_array().map(Vec::len), Some(1)),
        }
    }
}

#[tokio::test]
async fn rejected_tool_choice_falls_back_to_a_single_tool() {
    for vendor in all_vendors() {
        let body = vendor.reply_body(ReplyScenario::Hello);
        let no = r#"{"error":{"message":"Thinking may not be enabled when tool_choice forces tool use."}}"#;
        let bench =
            ProviderFixture::open(vendor, 3, move |n, _| if n == 0 { VendorReply::status(400, no) } else { VendorReply::ok(body.clone()) })
                .await;
        let free = model_call(0, hello());
        let forced = ModelRequest { choice: ToolChoice::Forced("send".into()), ..free.request().clone() };
        bench.provider.ask(&ModelCall::new(free.call.clone(), 7, forced.clone())).await.unwrap();
        let seen = bench.server.requests();
        assert_eq!((seen.len(), seen[1].body["tools"].as_array().map(Vec::len)), (2, Some(1)), "{vendor:?}");
        assert!(seen[1].body.get("tool_choice").is_none() && seen[1].raw.contains("Answer by calling send"), "{vendor:?}");
        // After a restart, the settled reply answers the original request.
        let settled = bench.provider.ask(&ModelCall::new(free.call.clone(), 7, forced)).await;
        assert!(settled.is_ok() && bench.server.count() == 2, "{vendor:?}");
        // A rejected request with free tool choice is not retried.
        let bench = ProviderFixture::open(vendor, 3, move |_, _| VendorReply::status(400, no)).await;
        assert!(bench.provider.ask(&free).await.is_err());
        assert_eq!(bench.server.count(), 1, "{vendor:?}");
    }
}
