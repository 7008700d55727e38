//! Every kind of provider of a promptfoo config, asked in its wire format.

use crate::harness::TestFolder;
use serde_json::{Value, json};
use testkit::chat::{serve_json, text_reply};

/// Answers in the format that belongs to the path, with the text of the request.
fn vendors() -> String {
    serve_json(|request, _| {
        let body = &request.body;
        let text = |path: &str| body.pointer(path).and_then(Value::as_str).unwrap_or("nothing").to_owned();
        match request.path.as_str() {
            "/v1/chat/completions" => text_reply(&format!("chat {}", text("/messages/0/content"))),
            "/v1/responses" => {
                let said = format!("responses {} within {}", text("/input/0/content/0/text"), body["max_output_tokens"]);
                let message = json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": said }] });
                let call =
                    json!({ "type": "function_call", "id": "fc_1", "call_id": "a", "name": "swap", "arguments": "{\"token\":\"ETH\"}" });
                json!({
                    "id": "resp_1", "object": "response", "status": "completed", "model": "m", "error": null, "output": [message, call],
                    "usage": { "input_tokens": 10, "output_tokens": 5, "total_tokens": 15 },
                })
            }
            "/v1/messages" => json!({
                "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn",
                "content": [{ "type": "text", "text": format!("messages {}", text("/messages/0/content/0/text")) }],
                "usage": { "input_tokens": 10, "output_tokens": 5 },
            }),
            "/api/chat" => json!({
                "model": "m", "created_at": "2026-11-15T00:00:00Z", "done": true, "done_reason": "stop", "prompt_eval_count": 10, "eval_count": 5,
                "message": { "role": "assistant", "content": format!("ollama {}", text("/messages/0/content")) },
            }),
            path => {
                json!({ "path": path, "answer": { "text": format!("http {} {}", text("/question"), request.header("x-team").unwrap_or_default()) } })
            }
        }
    })
}

const CONFIG: &str = r#"prompts: ['hello {{word}}']
providers:
  - { id: 'openai:gpt', config: { apiBaseUrl: 'URL/v1', apiKey: sk-test-0123456789, inputCost: 0, outputCost: 0 } }
  - { id: 'openai:responses:gpt', config: { apiBaseUrl: 'URL/v1', apiKey: sk-test-0123456789, inputCost: 0, outputCost: 0, max_output_tokens: 77 } }
  - { id: 'anthropic:messages:claude', config: { apiBaseUrl: 'URL', apiKey: sk-test-0123456789, inputCost: 0, outputCost: 0 } }
  - { id: 'ollama:chat:llama', config: { apiBaseUrl: 'URL' } }
  - { id: 'URL/ask', label: plain, config: { method: POST, headers: { content-type: application/json, x-team: blue }, body: { question: '{{prompt}}' }, transformResponse: json.answer.text } }
tests: [{ vars: { word: world }, assert: [{ type: contains, value: hello world }] }]
"#;

#[test]
fn every_kind_of_provider_is_asked() {
    let folder = TestFolder::new();
    folder.write("c.yaml", CONFIG.replace("URL", &vendors()));
    let ran = folder.run(&["run", "c.yaml", "-o", "r.json", "--no-store", "--budget", "1"]);
    let results: Value = serde_json::from_str(&folder.read("r.json")).unwrap();
    let mut outputs: Vec<String> = vec![];
    for row in results["results"]["results"].as_array().unwrap() {
        outputs.push(row["response"]["output"].as_str().unwrap_or_default().to_owned());
    }
    let responses = "responses hello world within 77\n{\"type\":\"function_call\",\"call_id\":\"a\",\"name\":\"swap\",\"arguments\":\"{\\\"token\\\":\\\"ETH\\\"}\"}";
    assert_eq!(
        outputs,
        ["chat hello world", responses, "messages hello world", "ollama hello world", "http hello world blue"],
        "{}\n{results:#}",
        ran.stderr
    );
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
}

#[test]
fn variables_and_repeats_of_the_command_line_make_tests() {
    let folder = TestFolder::new();
    folder.write("c.yaml", "prompts: ['say {{word}}']\nproviders: [echo]\ntests: [{ assert: [{ type: equals, value: say it }] }]\n");
    let ran = folder.run(&["run", "c.yaml", "-o", "r.json", "--no-store", "--var", "word=it", "--repeat", "3"]);
    let results: Value = serde_json::from_str(&folder.read("r.json")).unwrap();
    assert_eq!((ran.code, results["results"]["stats"]["successes"].as_u64()), (Some(0), Some(3)), "{}", ran.stderr);
    let other = folder.run(&["run", "c.yaml", "--no-store", "--var", "word=that"]);
    assert_eq!(other.code, Some(1), "{}", other.stderr);
}
