//! Recordings: recorded replies are replayed; missing ones are reported, and recorded only on request.

use crate::harness::TestFolder;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use testkit::chat;

const RUN_ONE_CASE: [&str; 7] = ["run", "--subject", "local", "--case", "how_much_usdc", "--budget", "1"];

/// Returns the correct reply for both cases of the profile.
fn answer(request: &Value) -> Value {
    if request["messages"].to_string().contains("250 USDC") {
        chat::tool_call_reply(1, "swap_get_quote", &json!({ "token_in": "USDC", "token_out": "WETH", "amount": "250", "chain": "base" }))
    } else {
        chat::tool_call_reply(1, "wallet_get_balance", &json!({ "token": "USDC", "chain": "base" }))
    }
}

#[test]
fn record_missing_records_only_missing_replies() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    let url = chat::serve_chat(move |request, _| {
        count.fetch_add(1, Ordering::SeqCst);
        answer(request)
    });
    let folder = TestFolder::with_minimal();
    folder.write("evals/subjects/local.yaml", chat::subject_file("local", &url));
    folder.run(&[&RUN_ONE_CASE[..], &["--record"]].concat());
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    // The second case has no recording.
    let both = ["run", "--subject", "local", "--profile", "trader", "--budget", "1", "--no-cache"];
    let ran = folder.run(&[&both[..], &["--replay"]].concat()).assert_exit(3);
    assert_eq!(asked.load(Ordering::SeqCst), 1, "a replay makes no calls");
    let ran = ran.assert_stdout("needs recording: 1 trial; rerun with --record-missing");
    ran.assert_stdout("needs recording: not recorded: this request was never recorded; the nearest recording differs in");
    let document = folder.json(&[&both[..], &["--replay"]].concat(), 3);
    assert_eq!((&document["needs_recording"], &document["trials"]["finished"]), (&json!(1), &json!(1)), "{document:#}");

    let recorded = folder.json(&[&both[..], &["--record-missing"]].concat(), 0);
    assert_eq!((asked.load(Ordering::SeqCst), &recorded["needs_recording"]), (2, &json!(0)), "only missing replies are requested");
    folder.json(&[&both[..], &["--replay"]].concat(), 0);
    assert_eq!(asked.load(Ordering::SeqCst), 2);
}

#[test]
fn plan_of_a_replayed_tier_says_what_must_be_recorded() {
    let url = chat::serve_chat(|request, _| answer(request));
    let folder = TestFolder::with_minimal();
    folder.write("evals/subjects/local.yaml", chat::subject_file("local", &url));
    let plan = ["run", "--tier", "2", "--subject", "local", "--dry-run"];
    let planned = folder.run(&plan).assert_exit(0);
    let planned =
        planned.assert_stdout("needs recording: all of 3 trials, because no reply of local is recorded; --record-missing takes about ");
    planned.assert_stdout("verdicts that can be decided once all is recorded: ");
    let document = folder.json(&plan, 0);
    let missing = &document["needs_recording"];
    assert_eq!((&missing["subjects"], &missing["trials"]), (&json!(["local"]), &json!(3)), "{document:#}");
    assert!(missing["calls"].as_u64().unwrap() >= 3 && missing["likely_usd"].is_number(), "{document:#}");
    // The reference needs no recordings, and a run that may call the model records nothing.
    for other in [&["run", "--tier", "2", "--subject", "reference", "--dry-run"][..], &["run", "--subject", "local", "--dry-run"]] {
        assert!(!folder.run(other).assert_exit(0).stdout.contains("recording"), "{other:?}");
    }
    folder.run(&[&RUN_ONE_CASE[..], &["--record"]].concat());
    assert!(folder.json(&plan, 0)["needs_recording"].is_null());
}
