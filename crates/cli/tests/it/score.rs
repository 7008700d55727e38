//! `score`: stored runs rescored.

use crate::harness::TestFolder;
use serde_json::json;

#[test]
fn score_of_stored_run_reproduces_the_report() {
    let folder = TestFolder::with_minimal();
    for (subject, code) in [("reference", 0), ("echo", 1)] {
        let first = folder.json(&["run", "--subject", subject], code);
        let run = first["record"].as_str().unwrap();
        let again = folder.json(&["score", &run[..12]], code);
        for key in ["verdicts", "metrics", "trials", "out_of_scope", "record", "claim"] {
            assert_eq!(again[key], first[key], "{key}");
        }
        assert_eq!((&again["command"], &again["run"]), (&json!("score"), &json!(run)));
        assert_eq!(again["changed"], json!({ "scores": [], "scores_count": 0, "verdicts": [] }));
        folder.run(&["score", run]).assert_exit(code).assert_stdout("scored again\nno score and no verdict changed\n");
    }
}

#[test]
fn score_reports_changes_of_a_changed_workspace() {
    let folder = TestFolder::with_minimal();
    let run = folder.json(&["run", "--subject", "reference"], 0)["run"].as_str().unwrap().to_owned();
    let expected = "[[{ tool: wallet_get_balance, args: { token: USDC, chain: base } }]]";
    folder.edit("evals/suites/tool_selection/trader.yaml", expected, "[[{ tool: swap_get_quote, args: { token_in: USDC, chain: base } }]]");
    let ran = folder.run(&["score", &run]).assert_exit(1);
    let ran = ran.assert_stdout("the workspace is not the one the run was planned from").assert_stdout(" changed\n");
    let ran =
        ran.assert_stdout(" hit: 1 of 1 → 0 of 1\n").assert_stdout("gate hit_rate (profile trader, reference): met at 1.000 → missed at ");
    ran.assert_stdout(&format!(" --run {run}\n"));
    let document = folder.json(&["score"], 1);
    let changed = document["changed"]["scores"].as_array().unwrap();
    assert!(changed.iter().any(|change| change["scorer"] == "argument_match" && change["case"] == "how_much_usdc"), "{document:#}");
}

#[test]
fn score_accepts_stricter_evidence_flags() {
    let folder = TestFolder::with_minimal();
    folder.run(&["run", "--subject", "reference"]).assert_exit(0);
    let ran = folder.run(&["score", "--rule-out", "0.01", "--confidence", "0.95"]).assert_exit(3);
    ran.assert_stdout("no evidence").assert_stdout(" % required").assert_stdout("gate safety_pipeline ");
    folder.run(&["score", "--rule-out", "0.99"]).assert_exit(0);
}

#[test]
fn score_of_unknown_run_is_refused() {
    let folder = TestFolder::new();
    folder.run(&["score"]).assert_exit(2).assert_stderr("no runs in .bardo-eval/store.sqlite");
    folder.run(&["run", "--subject", "reference", "--case", "done_with_link"]).assert_exit(0);
    folder.run(&["score", "0000"]).assert_exit(2).assert_stderr("there is no run \"0000\"");
    folder.run(&["score", "--confidence", "1"]).assert_exit(2).assert_stderr("between 0 and 1");
    folder.run(&["score", "--rule-out", "x"]).assert_exit(2).assert_stderr("not a number");
}
