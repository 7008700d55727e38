//! Stored runs: shown, compared, rescored, their cost, and baselines.

use super::snapshot;
use crate::harness::TestFolder;
use testkit::chat;

const CASE: &str = "sell_usdc_for_ether";

/// Returns the run ids of echo and of the reference, in this order.
fn two_runs(folder: &TestFolder) -> [String; 2] {
    ["echo", "reference"].map(|subject| {
        let ran = folder.run(&["run", "--case", CASE, "--subject", subject, "--format", "json"]);
        let document: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
        document["record"].as_str().unwrap()[..12].to_owned()
    })
}

#[test]
fn show_a_trial_and_compare_two() {
    let folder = TestFolder::with_minimal();
    let [echo, reference] = two_runs(&folder);
    snapshot("show_text", &folder, &["show", CASE]);
    snapshot("show_json", &folder, &["show", CASE, "--format", "json"]);
    snapshot("show_verbose", &folder, &["show", CASE, "--run", &echo, "--verbose"]);
    snapshot("show_diff_text", &folder, &["show", CASE, "--diff", &echo, &reference]);
    snapshot("show_diff_json", &folder, &["show", CASE, "--diff", &echo, &reference, "--format", "json"]);
}

#[test]
fn show_delegations_as_a_tree() {
    let folder = TestFolder::with_minimal();
    folder.run(&["run", "--suite", "composition", "--subject", "reference"]);
    snapshot("show_tree", &folder, &["show", "desk_hands_a_swap_over"]);
}

#[test]
fn runs_that_are_kept() {
    let folder = TestFolder::with_minimal();
    snapshot("runs_list_none", &folder, &["runs", "list"]);
    two_runs(&folder);
    snapshot("runs_show", &folder, &["runs", "show"]);
    let listed = folder.run(&["runs", "list"]).assert_exit(0);
    assert_eq!(listed.stdout.lines().count(), 3, "{}", listed.stdout);
}

#[test]
fn scores_again_after_a_change() {
    let folder = TestFolder::with_minimal();
    two_runs(&folder);
    snapshot("rescored_same", &folder, &["score"]);
    folder.edit("evals/suites/behavior/trader.yaml", "forbid: [token_transfer]", "forbid: [token_transfer, swap_get_quote]");
    for format in ["text", "json", "markdown", "junit", "github", "sarif"] {
        snapshot(&format!("rescored_{format}"), &folder, &["score", "--format", format]);
    }
}

#[test]
fn cost_of_kept_runs() {
    let folder = TestFolder::with_minimal();
    let url =
        chat::serve_chat(|_, _| chat::tool_call_reply(1, "wallet_get_balance", &serde_json::json!({ "token": "USDC", "chain": "base" })));
    folder.write("evals/subjects/local.yaml", chat::subject_file("local", &url));
    folder.run(&["run", "--subject", "local", "--suite", "tool_selection", "--budget", "1"]);
    snapshot("cost_text", &folder, &["cost"]);
    snapshot("cost_json", &folder, &["cost", "--format", "json"]);
}

#[test]
fn golden_baselines() {
    let folder = TestFolder::with_minimal();
    snapshot("golden_status_none", &folder, &["golden", "status"]);
    snapshot("golden_update", &folder, &["golden", "update", "--run-first", "--subject", "reference"]);
    folder.edit("evals/agents/desk.md", "delegates_to: [trader]", "delegates_to: [trader, safety-guardian]");
    snapshot("golden_status_text", &folder, &["golden", "status"]);
    snapshot("golden_status_json", &folder, &["golden", "status", "--format", "json"]);
    folder.run(&["run", "--subject", "echo"]);
    snapshot("golden_diff_of_another_subject", &folder, &["golden", "diff", "--subject", "echo"]);
    folder.run(&["run", "--subject", "reference"]);
    folder.edit("evals/golden/reference/trader/tool_selection.jsonl", "\"amount\":\"250\"", "\"amount\":\"251\"");
    snapshot("golden_diff_text", &folder, &["golden", "diff", "--subject", "reference"]);
    snapshot("golden_diff_json", &folder, &["golden", "diff", "--subject", "reference", "--format", "json"]);
}

#[test]
fn case_drafted_from_a_trial() {
    let folder = TestFolder::with_minimal();
    let [_, reference] = two_runs(&folder);
    let trial = folder.json(&["show", CASE], 0)["trial"].as_str().unwrap().to_owned();
    snapshot("case_new", &folder, &["case", "new", "--from", &format!("{reference}/{}", &trial[..12]), "--id", "drafted"]);
}
