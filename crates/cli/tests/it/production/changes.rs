//! Changes of the traffic: live alerts, and the replay of the stored traces.

use super::collecting::{CollectProcess, tool_trace};
use crate::harness::TestFolder;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Traces in one request.
const BATCH: u64 = 20;

fn spans(trace: &str) -> Vec<Value> {
    serde_json::from_str::<Value>(trace).unwrap()["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap().clone()
}

/// Returns a trace of another model version that calls another tool and takes longer.
fn changed_trace(n: u64) -> String {
    let text = tool_trace(n).replace("made-up-model-1", "made-up-model-2").replace("uniswap_get_quote", "data_get_token_price");
    let mut request: Value = serde_json::from_str(&text).unwrap();
    for span in request["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array_mut().unwrap() {
        let end: u128 = span["endTimeUnixNano"].as_str().unwrap().parse().unwrap();
        span["endTimeUnixNano"] = (end + 5_000_000_000).to_string().into();
    }
    request.to_string()
}

fn send(collector: &CollectProcess, traces: std::ops::Range<u64>, trace: fn(u64) -> String) {
    let all: Vec<u64> = traces.collect();
    for batch in all.chunks(usize::try_from(BATCH).unwrap()) {
        let spans: Vec<Value> = batch.iter().flat_map(|n| spans(&trace(*n))).collect();
        let body = json!({ "resourceSpans": [{ "scopeSpans": [{ "spans": spans }] }] }).to_string();
        assert_eq!(collector.post(&body), (200, "{}".to_owned()));
    }
}

/// Returns the alerts of changes, once there is one of each name.
fn drift_alerts(folder: &TestFolder, wanted: &[&str]) -> Vec<Value> {
    let started = Instant::now();
    loop {
        let lines = if folder.path("alerts.jsonl").exists() { folder.read("alerts.jsonl") } else { String::new() };
        let alerts: Vec<Value> = lines.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let changes: Vec<Value> = alerts.into_iter().filter(|alert| alert["key"].as_str().unwrap().starts_with("drift ")).collect();
        if wanted.iter().all(|name| changes.iter().any(|alert| alert["key"].as_str().unwrap().contains(name))) {
            return changes;
        }
        assert!(started.elapsed() < Duration::from_secs(90), "{wanted:?} in {lines}");
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// Returns what identifies a change.
fn signal(change: &Value) -> String {
    format!("{} {}", change["signal"], change["after"])
}

#[test]
fn changes_become_alerts_and_a_replay_of_the_stored_window_gives_the_same() {
    let folder = TestFolder::with_reference();
    folder.write("evals/production.yaml", super::KEEP_ALL);
    let collector = CollectProcess::start(&folder, &["--alerts", "alerts.jsonl"]);
    // The first 500 traces are the reference of the mix and of the quantiles.
    send(&collector, 0..520, tool_trace);
    collector.wait_for_kept(520);
    send(&collector, 520..1_020, changed_trace);
    collector.wait_for_kept(1_020);
    let wanted = ["version of model made-up-model", "mix of tools", "latency_ms of agent trade-executor"];
    let live = drift_alerts(&folder, &wanted);
    drop(collector);
    let version = live.iter().find(|alert| alert["details"]["signal"]["kind"] == "version").unwrap();
    let details = &version["details"];
    assert_eq!((&details["before"], &details["after"]), (&json!("made-up-model-1"), &json!("made-up-model-2")));
    assert!(version["title"].as_str().unwrap().contains("changed from made-up-model-1 to made-up-model-2"), "{version}");
    for alert in &live {
        let (examples, slices) = (alert["details"]["examples"].as_array().unwrap(), alert["details"]["slices"].as_array().unwrap());
        assert!(examples.len() == 3 && !slices.is_empty(), "{alert}");
        assert!(alert["details"]["since"].as_u64() > Some(0) && alert["details"]["since"].as_u64() <= alert["at_s"].as_u64(), "{alert}");
    }
    // The replay starts from nothing and reads the stored traces.
    let replay = || {
        let report = folder.run(&["watch", "--once", "--format", "json"]).assert_exit(1);
        serde_json::from_str::<Value>(&report.stdout).unwrap()["changes"].as_array().unwrap().clone()
    };
    let replayed = replay();
    assert_eq!(replayed, replay());
    for alert in &live {
        assert!(replayed.contains(&alert["details"]), "{alert} is not in the replay: {replayed:#?}");
    }
    // Alerts of one signal within the cool-down are one.
    let names =
        |changes: &[Value]| -> std::collections::BTreeSet<String> { changes.iter().map(|change| change["signal"].to_string()).collect() };
    let details: Vec<Value> = live.iter().map(|alert| alert["details"].clone()).collect();
    assert_eq!(names(&details), names(&replayed), "{:?}", replayed.iter().map(signal).collect::<Vec<_>>());
}

/// A version that a single trace shows is a change at once for `watch`, and an alert although no further trace comes.
#[test]
fn a_version_that_one_trace_shows_is_a_change() {
    let folder = TestFolder::with_reference();
    folder.write("evals/production.yaml", super::KEEP_ALL);
    let collector = CollectProcess::start(&folder, &["--alerts", "alerts.jsonl"]);
    send(&collector, 0..3, tool_trace);
    collector.wait_for_kept(3);
    send(&collector, 3..4, changed_trace);
    collector.wait_for_kept(4);
    folder.run(&["watch", "--once"]).assert_exit(1).assert_stdout("made-up-model-2");
    let alerts = drift_alerts(&folder, &["version of model made-up-model made-up-model-2"]);
    assert_eq!(alerts.len(), 1, "{alerts:?}");
}
