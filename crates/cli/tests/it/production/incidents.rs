//! From an incident to a case: drafts of traces, and real runs of their references.

use super::collecting::{CollectProcess, reported_trace, tool_trace};
use crate::harness::TestFolder;
use serde_json::Value;

const DRAFT: &str = "evals/suites/behavior/incident.yaml";

/// Collects traces and drafts a case of the first.
fn draft(folder: &TestFolder, traces: &[String], id: &str) -> String {
    folder.write("evals/production.yaml", super::KEEP_ALL);
    let collector = CollectProcess::start(folder, &[]);
    for trace in traces {
        assert_eq!(collector.post(trace).0, 200);
    }
    collector.wait_for_kept(traces.len());
    drop(collector);
    folder.run(&["case", "new", "--trace", id, "--id", "incident", "-o", DRAFT]).assert_exit(0);
    folder.read(DRAFT)
}

fn play(folder: &TestFolder, exit: i32) {
    folder.run(&["run", "--case", "incident", "--subject", "reference"]).assert_exit(exit);
}

#[test]
fn the_reference_of_a_right_trace_passes() {
    let folder = TestFolder::with_reference();
    let text = draft(&folder, &[reported_trace(0)], &format!("{:032x}", 1));
    assert!(!text.contains("To fill in") && text.contains("fixtures:"), "{text}");
    play(&folder, 0);
}

#[test]
fn a_draft_names_the_miss_of_its_trace() {
    let folder = TestFolder::with_reference();
    let text = draft(&folder, &[tool_trace(0)], &format!("{:032x}", 1));
    assert!(text.contains("# To fill in: reference: the trace misses output_format: the answer is not JSON"), "{text}");
    play(&folder, 1);
    // A person writes what should have been said.
    let report =
        "{\\\"status\\\":\\\"planned\\\",\\\"operation\\\":\\\"quote\\\",\\\"chain_id\\\":8453,\\\"reason\\\":\\\"About 0.1 WETH.\\\"}";
    folder.edit(DRAFT, "About 0.1 WETH.", report);
    play(&folder, 0);
}

/// Removes what only our own exports say, so that the trace is one of conventions.
fn by_conventions(line: &str) -> Value {
    let mut request: Value = serde_json::from_str(line).unwrap();
    for span in request["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array_mut().unwrap() {
        let is_ours = |value: &Value| value.as_str().is_some_and(|name| name.starts_with("bardo_eval."));
        span["attributes"].as_array_mut().unwrap().retain(|attribute| !is_ours(&attribute["key"]));
        if let Some(events) = span.get_mut("events").and_then(Value::as_array_mut) {
            events.retain(|event| !is_ours(&event["name"]));
        }
    }
    request
}

#[test]
fn a_draft_of_a_write_passes_once_its_intent_is_filled_in() {
    let folder = TestFolder::with_reference();
    folder.run(&["run", "--case", "contest_enter_with_one_spot_trade", "--subject", "reference"]).assert_exit(0);
    folder.run(&["export", "--to", "otlp", "-o", "traces.jsonl"]).assert_exit(0);
    let trace = by_conventions(folder.read("traces.jsonl").lines().next().unwrap());
    let id = trace["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["traceId"].as_str().unwrap().to_owned();
    // The same request twice would be a finding of smoke.
    folder.remove("evals/suites/behavior/competition-participant.yaml");
    let text = draft(&folder, &[trace.to_string()], &id);
    assert!(text.contains("# To fill in: intent: what the user allowed uniswap_execute_swap to spend"), "{text}");
    assert!(!text.contains("is:\n            action_id"), "the world makes ids of actions: {text}");
    play(&folder, 1);
    let intent = "    intent:\n      spend: [{ token: USDC, at_most: \"300\" }]\n      receive: [WETH]\n      chains: [8453]\n      payees: [self]\n      slippage_bps: 40\n    expect:\n";
    folder.edit(DRAFT, "    expect:\n", intent);
    play(&folder, 0);
}
