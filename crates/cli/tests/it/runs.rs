//! Runs that are kept: listed, shown, removed, resumed.

use crate::harness::Folder;
use serde_json::json;

#[test]
fn runs_are_listed_shown_and_removed() {
    let folder = Folder::with_minimal();
    folder.run(&["runs", "list"]).exits(2).says("no run has been kept");
    let first = folder.json(&["run", "--subject", "reference"], 0)["record"].as_str().unwrap().to_owned();
    folder.run(&["run", "--subject", "echo"]).exits(1);
    let listed = folder.json(&["runs", "list"], 0);
    let items = listed["items"].as_array().unwrap();
    assert_eq!((items.len(), &items[0]["subjects"], &items[1]["record"]), (2, &json!(["echo"]), &json!(first)));
    assert_eq!(items[1]["trials"], json!({ "planned": 5, "ended": 5, "passed": 5 }));
    folder.run(&["runs", "show", &first[..8]]).exits(0).prints(&first).prints("5 of 5 ended, 5 passed");
    let shown = folder.json(&["runs", "show"], 0);
    assert_eq!(shown["run"]["settings"]["subjects"], json!(["echo"]));
    folder.run(&["runs", "rm", "0000"]).exits(2).says("there is no run \"0000\"");
    folder.run(&["runs", "rm", &first[..8]]).exits(0).prints("removed ");
    assert_eq!(folder.json(&["runs", "list"], 0)["items"].as_array().unwrap().len(), 1);
    folder.run(&["run", "--resume"]).exits(2).says("there is nothing to resume");
}

#[test]
fn a_mistake_leaves_no_run_behind() {
    let folder = Folder::with_minimal();
    for wrong in [["--foreign-tools", "nonsense"], ["--subject", "nobody"], ["--chain", "hardhat"], ["--judge", "nobody"]] {
        folder.run(&[&["run", "--case", "how_much_usdc"], &wrong[..]].concat()).exits(2);
        folder.run(&["runs", "list"]).exits(2).says("no run has been kept");
    }
}

#[test]
fn the_last_failures_are_run_again() {
    let folder = Folder::with_minimal();
    folder.run(&["run", "--last-failed"]).exits(2).says("no run has been kept");
    folder.run(&["run", "--subject", "echo", "--case", "how_*", "--case", "price_before_trading"]).exits(1);
    let planned = folder.json(&["run", "--subject", "reference", "--last-failed", "--dry-run"], 0);
    assert_eq!(planned["trials"].as_array().unwrap().len(), 2, "{planned:#}");
    folder.run(&["run", "--subject", "reference", "--last-failed"]).exits(0);
    folder.run(&["run", "--subject", "reference", "--last-failed"]).exits(2).says("no case failed");
    folder.run(&["run", "--case", "nothing_*"]).exits(2).says("there is no case \"nothing_*\"");
}

#[test]
fn a_workspace_has_defaults() {
    let folder = Folder::with_minimal();
    folder.write("evals/bardo-eval.yaml", "subject: echo\nbudget_usd: 0.50\n");
    folder.run(&["run"]).exits(1).prints("subject echo,");
    folder.run(&["run", "--subject", "reference"]).exits(0);
    folder.write("evals/bardo-eval.yaml", "subject: echo\nbudget_usd: much\nspeed: 1\n");
    folder.run(&["run"]).exits(2).says("bardo-eval.yaml:2").says("bardo-eval.yaml:3");
}
