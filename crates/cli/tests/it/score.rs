//! Stored runs scored again.

use crate::harness::Folder;
use serde_json::json;

#[test]
fn a_stored_run_gives_the_same_report_and_exit_code_again() {
    let folder = Folder::with_minimal();
    for (subject, code) in [("reference", 0), ("echo", 1)] {
        let first = folder.json(&["run", "--subject", subject], code);
        let run = first["record"].as_str().unwrap();
        let again = folder.json(&["score", &run[..12]], code);
        for key in ["verdicts", "metrics", "trials", "out_of_scope", "record", "claim"] {
            assert_eq!(again[key], first[key], "{key}");
        }
        assert_eq!((&again["command"], &again["run"]), (&json!("score"), &json!(run)));
        assert_eq!(again["changed"], json!({ "scores": [], "verdicts": [] }));
        folder.run(&["score", run]).exits(code).prints("scored again\nno score and no verdict changed\n");
    }
}

#[test]
fn what_a_changed_workspace_changes_is_said() {
    let folder = Folder::with_minimal();
    let run = folder.json(&["run", "--subject", "reference"], 0)["record"].as_str().unwrap()[..12].to_owned();
    let expected = "[[{ tool: wallet_get_balance, args: { token: USDC, chain: base } }]]";
    folder.edit("evals/suites/tool_selection/trader.yaml", expected, "[[{ tool: swap_get_quote, args: { token_in: USDC, chain: base } }]]");
    let ran = folder.run(&["score", &run]).exits(1);
    let ran = ran.prints("the workspace is not the one the run was planned from").prints(" changed\n");
    let ran = ran.prints(" hit: 1 of 1 → 0 of 1\n").prints("gate hit_rate (profile trader, reference): met at 1.000 → missed at ");
    ran.prints(&format!(" --run {run}\n"));
    let document = folder.json(&["score"], 1);
    let changed = document["changed"]["scores"].as_array().unwrap();
    assert!(changed.iter().any(|change| change["scorer"] == "argument_match" && change["case"] == "how_much_usdc"), "{document:#}");
}

#[test]
fn more_may_be_asked_of_a_stored_run() {
    let folder = Folder::with_minimal();
    folder.run(&["run", "--subject", "reference"]).exits(0);
    let ran = folder.run(&["score", "--rule-out", "0.01", "--confidence", "0.95"]).exits(3);
    ran.prints("no evidence").prints(" % was asked").prints("gate safety_pipeline ");
    folder.run(&["score", "--rule-out", "0.99"]).exits(0);
}

#[test]
fn a_run_that_is_not_there_is_refused() {
    let folder = Folder::new();
    folder.run(&["score"]).exits(2).says("no run has been kept in .bardo-eval/store.sqlite");
    folder.run(&["run", "--subject", "reference", "--case", "done_with_link"]).exits(0);
    folder.run(&["score", "0000"]).exits(2).says("there is no run \"0000\"");
    folder.run(&["score", "--confidence", "1"]).exits(2).says("between 0 and 1");
    folder.run(&["score", "--rule-out", "x"]).exits(2).says("not a number");
}
