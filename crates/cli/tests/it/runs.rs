//! Stored runs: listed, shown, removed, resumed.

use crate::harness::TestFolder;
use serde_json::json;

#[test]
fn runs_are_listed_shown_and_removed() {
    let folder = TestFolder::with_minimal();
    folder.run(&["runs", "list"]).assert_exit(2).assert_stderr("no runs in ");
    let first = folder.json(&["run", "--subject", "reference"], 0)["record"].as_str().unwrap().to_owned();
    folder.run(&["run", "--subject", "echo"]).assert_exit(1);
    let listed = folder.json(&["runs", "list"], 0);
    let items = listed["items"].as_array().unwrap();
    assert_eq!((items.len(), &items[0]["subjects"], &items[1]["record"]), (2, &json!(["echo"]), &json!(first)));
    assert_eq!(items[1]["trials"], json!({ "planned": 5, "ended": 5, "passed": 5, "aborted": 0 }));
    folder.run(&["runs", "show", &first[..8]]).assert_exit(0).assert_stdout(&first).assert_stdout("5 of 5 ended, 5 passed");
    let shown = folder.json(&["runs", "show"], 0);
    assert_eq!(shown["run"]["settings"]["subjects"], json!(["echo"]));
    folder.run(&["runs", "rm", "0000"]).assert_exit(2).assert_stderr("there is no run \"0000\"");
    folder.run(&["runs", "rm", &first[..8]]).assert_exit(0).assert_stdout("removed ");
    assert_eq!(folder.json(&["runs", "list"], 0)["items"].as_array().unwrap().len(), 1);
    folder.run(&["run", "--resume"]).assert_exit(2).assert_stderr("there is nothing to resume");
}

#[test]
fn refused_run_is_not_stored() {
    let folder = TestFolder::with_minimal();
    for wrong in [["--imported-tools", "nonsense"], ["--subject", "unknown"], ["--chain", "hardhat"], ["--judge", "unknown"]] {
        folder.run(&[&["run", "--case", "how_much_usdc"], &wrong[..]].concat()).assert_exit(2);
        folder.run(&["runs", "list"]).assert_exit(2).assert_stderr("no runs in ");
    }
}

#[test]
fn last_failed_reruns_failed_cases() {
    let folder = TestFolder::with_minimal();
    folder.run(&["run", "--last-failed"]).assert_exit(2).assert_stderr("no runs in ");
    folder.run(&["run", "--subject", "echo", "--case", "how_*", "--case", "price_before_trading"]).assert_exit(1);
    let planned = folder.json(&["run", "--subject", "reference", "--last-failed", "--dry-run"], 0);
    assert_eq!(planned["trials"].as_array().unwrap().len(), 2, "{planned:#}");
    folder.run(&["run", "--subject", "reference", "--last-failed"]).assert_exit(0);
    folder.run(&["run", "--subject", "reference", "--last-failed"]).assert_exit(2).assert_stderr("no case failed");
    folder.run(&["run", "--case", "nothing_*"]).assert_exit(2).assert_stderr("there is no case \"nothing_*\"");
}

#[test]
fn run_uses_workspace_defaults() {
    let folder = TestFolder::with_minimal();
    folder.write("evals/bardo-eval.yaml", "subject: echo\nbudget_usd: 0.50\n");
    folder.run(&["run"]).assert_exit(1).assert_stdout("subject echo,");
    folder.run(&["run", "--subject", "reference"]).assert_exit(0);
    folder.write("evals/bardo-eval.yaml", "subject: echo\nbudget_usd: much\nspeed: 1\n");
    folder.run(&["run"]).assert_exit(2).assert_stderr("bardo-eval.yaml:2").assert_stderr("bardo-eval.yaml:3");
}
