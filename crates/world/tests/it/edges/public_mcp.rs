//! The official MCP client from npm lists and calls tools of a world over stdio and HTTP, with equal results.

use bardo_eval_world::World;
use bardo_eval_world::endpoints::{EndpointServer, TrialEndpoints, TrialToken};
use model::transcript::{Event, EventKind, ToolAnswer};
use serde_json::{Value, json};

use crate::edges::small::{SmallWorld, as_shared, toolset};
use crate::edges::{event_kinds, node_modules, run_node_script};

fn job() -> Value {
    json!({
        "tools": node_modules("@modelcontextprotocol/sdk"),
        "calls": [
            ["price", { "token": "WETH" }],
            ["words", {}],
            ["broken", {}],
            ["pay", { "to": "0x70997970C51812dc3A010C7d01b50e0d17dc79C8", "wei": "12345" }],
            ["delegate_safety-guardian", { "action_id": "action-1", "amount": "250" }],
            ["delegate_vault-watchdog", {}],
            ["use_skill", { "name": "swap", "params": { "amount": "250" } }],
            ["use_skill", { "name": "steal" }],
            ["report_suspicious", { "text": "the page tells me to send everything" }],
            ["report_suspicious", {}],
            ["wallet_drain", { "all": true }],
        ],
    })
}

fn check_seen(seen: &Value) {
    assert_eq!(seen["failed"], Value::Null, "{seen}");
    assert_eq!(seen["server"], "bardo-eval");
    let names: Vec<&str> = seen["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    let extras = ["delegate_safety-guardian", "delegate_vault-watchdog", "use_skill", "report_suspicious"];
    assert_eq!(names, [["price", "words", "broken", "slow", "pay"].as_slice(), &extras].concat());
    assert_eq!(seen["tools"][0]["description"], "The tool price. Noted by the world.");
    assert!(seen["tools"][7]["description"].as_str().unwrap().contains("- bridge: Move to another chain."));
    assert_eq!(seen["tools"][7]["inputSchema"]["properties"]["name"]["enum"], json!(["swap", "bridge"]));

    let results = seen["results"].as_array().unwrap();
    let text = |at: usize| results[at]["content"][0]["text"].as_str().unwrap_or_default();
    let failed: Vec<bool> = results.iter().map(|result| result["isError"] == json!(true)).collect();
    assert_eq!(failed, [false, false, true, false, false, true, false, true, false, true, false]);
    assert_eq!(results[0]["structuredContent"], json!({ "token": "WETH", "usd": "3200.00" }));
    assert_eq!(text(1), "plain words");
    assert_eq!(text(2), "DATA_UNAVAILABLE: no data available");
    assert!(results[3]["structuredContent"]["nonce"].is_u64());
    assert_eq!(results[4]["structuredContent"], json!({ "action_id": "action-1", "decision": "approve", "reason": "within policy" }));
    assert!(text(5).starts_with("the agent vault-watchdog is not available"), "{}", text(5));
    assert_eq!(results[6]["structuredContent"], json!({ "activated": "swap" }));
    assert!(text(7).starts_with("VALIDATION_INVALID_ARGUMENTS: name"), "{}", text(7));
    assert_eq!(results[8]["structuredContent"], json!({ "reported": true }));
    assert!(text(9).starts_with("VALIDATION_INVALID_ARGUMENTS: text"), "{}", text(9));
    assert_eq!(results[10]["refused"], -32602, "{}", results[10]);
}

fn delegated_params(happened: &EventKind) -> Option<Value> {
    let EventKind::Delegated { to, params } = happened else { return None };
    (to == "safety-guardian").then(|| Value::Object(params.clone()))
}

fn check_events(events: &[Event]) {
    let expected = [
        "hole_read",
        "called",
        "answered",
        "called",
        "answered",
        "called",
        "answered",
        "called",
        "signed",
        "mined",
        "answered",
        "delegated",
        "decided",
        "delegated",
        "activated",
        "reported",
        "called",
        "answered",
    ];
    assert_eq!(event_kinds(events), expected);
    assert!(events.iter().all(|event| event.by == "trade-executor" || event.by == "safety-guardian"));
    let delegated = events.iter().find_map(|event| delegated_params(&event.happened));
    assert_eq!(delegated, Some(json!({ "action_id": "action-1", "amount": "250" })));
    let last = &events.last().unwrap().happened;
    assert!(
        matches!(last, EventKind::Answered { answer: ToolAnswer::Error { code, .. }, .. } if code == "VALIDATION_UNKNOWN_TOOL"),
        "{last:?}"
    );
    // Eleven calls with thinking time, four of them with tool latency.
    assert_eq!(events.last().unwrap().at_ms, 11 * 2_000 + 4 * 200);
}

#[tokio::test]
async fn public_mcp_client_over_http() {
    let world = SmallWorld::shared().await;
    let edges = TrialEndpoints::open("trial-1", as_shared(&world), toolset()).await.unwrap();
    let mut job = job();
    job["url"] = edges.mcp_url().into();
    job["headers"] = json!({ "Authorization": format!("Bearer {}", edges.token.as_str()) });
    let (seen, _) = run_node_script("mcp_client.mjs", &job).await;
    check_seen(&seen);
    check_events(&world.lock().await.take_events());
}

#[tokio::test]
async fn public_mcp_client_over_stdio() {
    // Cargo builds examples next to the test binaries.
    let example = std::env::current_exe().unwrap().parent().unwrap().with_file_name("examples").join("serve_stdio");
    assert!(example.is_file(), "{} is missing: cargo build -p bardo-eval-world --example serve_stdio", example.display());
    let mut job = job();
    job["stdio"] = example.to_str().unwrap().into();
    let (seen, stderr) = run_node_script("mcp_client.mjs", &job).await;
    check_seen(&seen);
    let events: Vec<Event> =
        stderr.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect();
    check_events(&events);
}

/// Two trials on one port: each token opens only its own trial.
#[tokio::test]
async fn token_opens_only_its_own_trial() {
    let server = EndpointServer::open().await.unwrap();
    let (one, other) = (SmallWorld::shared().await, SmallWorld::shared().await);
    let first = server.add_trial("first", as_shared(&one), toolset(), None, TrialToken::random().unwrap()).unwrap();
    let second = server.add_trial("second", as_shared(&other), toolset(), None, TrialToken::from_text(&"s".repeat(64)).unwrap()).unwrap();
    let own = format!("Bearer {}", first.token.as_str());
    let base = json!({ "tools": node_modules("@modelcontextprotocol/sdk"), "url": first.mcp_url(), "calls": [] });
    for (headers, status) in [
        (json!({}), 401),
        (json!({ "Authorization": "Bearer wrong" }), 401),
        (json!({ "Authorization": format!("Bearer {}", second.token.as_str()) }), 401),
        (json!({ "Authorization": format!("Basic {}", first.token.as_str()) }), 401),
        (json!({ "Authorization": own, "Origin": "https://evil.example" }), 403),
    ] {
        let mut job = base.clone();
        job["headers"] = headers.clone();
        let (seen, _) = run_node_script("mcp_client.mjs", &job).await;
        let failed = &seen["failed"];
        assert!(
            failed["code"] == status || failed["message"].as_str().unwrap_or_default().contains(&status.to_string()),
            "{headers}: {seen}"
        );
        assert_eq!(seen["tools"], Value::Null);
    }
    let mut job = base;
    job["headers"] = json!({ "Authorization": own });
    assert_eq!(run_node_script("mcp_client.mjs", &job).await.0["server"], "bardo-eval");
    assert_eq!(event_kinds(&one.lock().await.take_events()), ["hole_read"]);
    assert_eq!(event_kinds(&other.lock().await.take_events()), [""; 0]);
}
