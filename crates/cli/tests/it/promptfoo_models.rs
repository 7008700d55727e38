//! Models, judges and simulated users of configs of promptfoo: budget, journal, cache, recordings, resuming, and no secret in any result.

use crate::harness::TestFolder;
use serde_json::{Value, json};
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use testkit::chat::{serve_chat, text_reply};
use testkit::{find_secret_trace, secret_echoes};

const KEY: &str = "sk-live-0123456789abcdef";

/// Model on loopback that repeats the last message, and the number of its requests.
fn parrot() -> (String, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&count);
    let url = serve_chat(move |request, _| {
        seen.fetch_add(1, Ordering::SeqCst);
        let last = request["messages"].as_array().and_then(|messages| messages.last()).cloned().unwrap_or_default();
        text_reply(&format!("heard {}", last["content"].as_str().unwrap_or_default()))
    });
    (url, count)
}

fn config(url: &str, price: &str, tests: &str) -> String {
    format!(
        "prompts: ['say {{{{word}}}}']\nproviders:\n  - id: openai:chat:parrot\n    config: {{ apiBaseUrl: '{url}', apiKeyEnvar: MY_KEY{price} }}\ntests:\n{tests}"
    )
}

const PRICE: &str = ", inputCost: 0.000001, outputCost: 0.000002";
const TWO_TESTS: &str = "  - { description: one, vars: { word: red }, assert: [{ type: contains, value: red }] }\n  - { description: two, vars: { word: blue }, assert: [{ type: contains, value: green }] }\n";

fn run(folder: &TestFolder, args: &[&str]) -> crate::harness::ProgramOutput {
    folder.run_with_variable(args, "MY_KEY", KEY)
}

#[test]
fn models_need_a_price_a_key_and_a_budget() {
    let folder = TestFolder::new();
    let (url, count) = parrot();
    folder.write("c.yaml", config(&url, "", TWO_TESTS));
    let ran = run(&folder, &["run", "c.yaml", "--budget", "1"]).assert_exit(2);
    assert!(ran.stderr.contains("c.yaml:3  openai:chat:parrot: its price is not known"), "{}", ran.stderr);
    folder.write("c.yaml", config(&url, PRICE, TWO_TESTS));
    let ran = run(&folder, &["run", "c.yaml"]).assert_exit(2);
    assert!(ran.stderr.contains("it costs money; set a spending limit"), "{}", ran.stderr);
    let ran = folder.run(&["run", "c.yaml", "--budget", "1"]).assert_exit(2);
    assert!(ran.stderr.contains("MY_KEY"), "{}", ran.stderr);
    assert_eq!(count.load(Ordering::SeqCst), 0, "nothing is sent before all mistakes are mended");
}

#[test]
fn runs_are_stored_listed_and_costed() {
    let folder = TestFolder::new();
    let (url, count) = parrot();
    folder.write("c.yaml", config(&url, PRICE, TWO_TESTS));
    let ran = run(&folder, &["run", "c.yaml", "--budget", "1", "-o", "r.json"]).assert_exit(1);
    assert!(ran.stderr.contains("stored as run ") && ran.stderr.contains("spent 0.0"), "{}", ran.stderr);
    assert_eq!(count.load(Ordering::SeqCst), 2);
    let runs = folder.json(&["runs", "list"], 0);
    let stored = &runs["items"][0];
    assert_eq!(stored["trials"], json!({ "planned": 2, "ended": 2, "passed": 1, "aborted": 0 }), "{runs:#}");
    assert_eq!((&stored["state"], &stored["subjects"]), (&"complete".into(), &json!(["openai:chat:parrot"])));
    assert!(stored["spent_usd"].as_f64().unwrap() > 0.0);
    let shown = folder.json(&["show", "one"], 0);
    assert!(shown.to_string().contains("heard say red"), "{shown:#}");
    let cost = folder.json(&["cost"], 0);
    assert_eq!(cost["calls"], 2, "{cost:#}");
    // The same requests are answered by the cache, and not with --no-cache.
    run(&folder, &["run", "c.yaml", "--budget", "1"]).assert_exit(1);
    assert_eq!(count.load(Ordering::SeqCst), 2);
    run(&folder, &["run", "c.yaml", "--budget", "1", "--no-cache"]).assert_exit(1);
    assert_eq!(count.load(Ordering::SeqCst), 4);
    // Two stored runs of a config are compared test by test.
    let compared = folder.run(&["compare", stored["run"].as_str().unwrap(), "--format", "json"]);
    assert!(compared.stdout.contains("\"paired\": 2"), "{compared:?}");
}

#[test]
fn budget_is_a_hard_cap_and_a_run_is_resumed() {
    let folder = TestFolder::new();
    let (url, count) = parrot();
    let tests: String = (0..6)
        .map(|n| format!("  - {{ description: t{n}, vars: {{ word: w{n} }}, assert: [{{ type: contains, value: w{n} }}] }}\n"))
        .collect();
    // A reservation is 1,024 tokens of input and of output and some: about 0.0035 dollars.
    folder.write("c.yaml", config(&url, PRICE, &tests));
    let ran = run(&folder, &["run", "c.yaml", "--budget", "0.0038", "-j", "1", "-o", "r.json"]).assert_exit(3);
    let sent = count.load(Ordering::SeqCst);
    assert!(sent < 6 && ran.stderr.contains("--resume"), "{sent}: {}", ran.stderr);
    let results: Value = serde_json::from_str(&folder.read("r.json")).unwrap();
    let errors = results["results"]["stats"]["errors"].as_u64().unwrap();
    assert_eq!(errors as usize + sent, 6, "a test that is not funded is in error: {results:#}");
    folder.run(&["run", "--resume"]).assert_exit(2);
    let resumed = run(&folder, &["run", "c.yaml", "--budget", "1", "--resume", "-o", "r.json"]).assert_exit(0);
    assert_eq!(count.load(Ordering::SeqCst), 6, "replies that were paid are not asked for again: {}", resumed.stderr);
    let runs = folder.json(&["runs", "list"], 0);
    assert_eq!(runs["items"].as_array().unwrap().len(), 1);
    assert_eq!(runs["items"][0]["trials"]["passed"], 6, "{runs:#}");
    folder.write("d.yaml", "providers: [echo]\ntests: [{ assert: [{ type: contains, value: x }], vars: { prompt: x } }]\n");
    let ran = folder.run(&["run", "d.yaml", "--resume"]).assert_exit(2);
    assert!(ran.stderr.contains("asks no model, so its runs are not stored"), "{}", ran.stderr);
}

#[test]
fn another_config_is_not_resumed() {
    let folder = TestFolder::new();
    let (url, _) = parrot();
    folder.write("c.yaml", config(&url, PRICE, TWO_TESTS));
    run(&folder, &["run", "c.yaml", "--budget", "0.000001"]).assert_exit(3);
    folder.write("c.yaml", config(&url, PRICE, &TWO_TESTS.replace("red", "pink")));
    let ran = run(&folder, &["run", "c.yaml", "--budget", "1", "--resume"]).assert_exit(2);
    assert!(ran.stderr.contains("the config, its files or the selection of tests differ"), "{}", ran.stderr);
}

#[test]
fn recordings_replace_the_model() {
    let folder = TestFolder::new();
    let (url, count) = parrot();
    folder.write("c.yaml", config(&url, PRICE, TWO_TESTS));
    run(&folder, &["run", "c.yaml", "--budget", "1", "--record"]).assert_exit(1);
    assert_eq!(count.load(Ordering::SeqCst), 2);
    folder.run(&["run", "c.yaml", "--replay", "--no-store"]).assert_exit(1);
    assert_eq!(count.load(Ordering::SeqCst), 2, "a replay sends nothing, and needs neither key nor budget");
    folder.write("c.yaml", config(&url, PRICE, &TWO_TESTS.replace("red", "pink")));
    folder.run(&["run", "c.yaml", "--replay", "--no-store", "--filter-pattern", "one"]).assert_exit(3);
}

#[test]
fn secrets_are_in_no_result() {
    let folder = TestFolder::new();
    // The model repeats the key that it was sent in every encoding, and a program repeats it as it is.
    let url = serve_chat(move |_, _| {
        let echoes: Vec<String> = secret_echoes(KEY).into_iter().map(|echo| format!("({})", echo.text)).collect();
        text_reply(&format!("your key is {}", echoes.join(" and ")))
    });
    folder.write("s.env", format!("MY_KEY={KEY}\n"));
    folder.write(
        "c.yaml",
        format!(
            "prompts: [hi]\nproviders:\n  - id: openai:chat:leak\n    config: {{ apiBaseUrl: '{url}', apiKey: {KEY}{PRICE} }}\n  - exec:sh -c 'echo $MY_KEY'\n\
             tests: [{{ assert: [{{ type: contains, value: nothing }}] }}]\n"
        ),
    );
    for file in ["r.json", "r.jsonl", "r.xml"] {
        let ran = folder.run(&["run", "c.yaml", "--env-file", "s.env", "--budget", "1", "--no-cache", "-o", file]).assert_exit(1);
        for (name, text) in [(file, folder.read(file)), ("stderr", ran.stderr), ("stdout", ran.stdout)] {
            assert_eq!(find_secret_trace(text.as_bytes(), KEY), None, "{name}: {text}");
        }
    }
    assert!(folder.read("r.json").contains("[secret]"));
    for name in [".bardo-eval/store.sqlite", ".bardo-eval/store.sqlite-wal"] {
        let bytes = fs::read(folder.path(name)).unwrap_or_default();
        assert_eq!(find_secret_trace(&bytes, KEY), None, "{name}");
    }
}

#[test]
fn judges_spend_from_the_same_budget() {
    let folder = TestFolder::new();
    let judge = serve_chat(|_, n| text_reply(&format!("{{\"reason\": \"r{n}\", \"pass\": true, \"score\": 1}}")));
    let text = format!(
        "prompts: ['hi {{{{n}}}}']\nproviders: [echo]\ndefaultTest:\n  options:\n    provider: {{ id: 'openai:chat:judge', config: {{ apiBaseUrl: '{judge}', apiKeyEnvar: MY_KEY{PRICE} }} }}\n  assert: [{{ type: llm-rubric, value: it greets }}]\n\
         tests: [{{ vars: {{ n: 1 }} }}, {{ vars: {{ n: 2 }} }}]\n"
    );
    folder.write("c.yaml", &text);
    run(&folder, &["run", "c.yaml"]).assert_exit(2);
    run(&folder, &["run", "c.yaml", "--budget", "0.000001"]).assert_exit(3);
    run(&folder, &["run", "c.yaml", "--budget", "1"]).assert_exit(0);
    assert_eq!(folder.json(&["cost"], 0)["calls"], 2);
}

#[test]
fn simulated_users_are_local() {
    let folder = TestFolder::new();
    let (agent, _) = parrot();
    let user = serve_chat(|_, n| text_reply(if n < 2 { "I want a refund" } else { "###STOP###" }));
    let config = |user_config: &str| {
        format!(
            "prompts: ['You are a help desk']\nproviders: [{{ id: 'openai:chat:agent', config: {{ apiBaseUrl: '{agent}', apiKeyEnvar: MY_KEY{PRICE} }} }}]\n\
             defaultTest: {{ provider: {{ id: 'promptfoo:simulated-user', config: {{ maxTurns: 4{user_config} }} }} }}\n\
             tests: [{{ vars: {{ instructions: Ask for a refund. }}, assert: [{{ type: contains, value: 'User: I want a refund' }}, {{ type: contains, value: 'Assistant: heard I want a refund' }}] }}]\n"
        )
    };
    folder.write("c.yaml", config(""));
    let ran = run(&folder, &["run", "c.yaml", "--budget", "1"]).assert_exit(2);
    assert!(ran.stderr.contains("no model that plays the user"), "{}", ran.stderr);
    folder.write(
        "c.yaml",
        config(&format!(", userProvider: {{ id: 'openai:chat:user', config: {{ apiBaseUrl: '{user}', apiKeyEnvar: MY_KEY{PRICE} }} }}")),
    );
    run(&folder, &["run", "c.yaml", "--budget", "1", "-o", "r.json"]).assert_exit(0);
    let results: Value = serde_json::from_str(&folder.read("r.json")).unwrap();
    let messages = &results["results"]["results"][0]["response"]["metadata"]["messages"];
    assert_eq!(messages.as_array().unwrap().len(), 4, "two turns of each side, then the user stops: {results:#}");
    folder.write("c.yaml", config(", turns: [I want a refund]"));
    run(&folder, &["run", "c.yaml", "--budget", "1"]).assert_exit(0);
}
