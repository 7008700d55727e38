//! Judges: calibrated on labelled examples, used only if named, and ignored without a clear verdict.

use crate::harness::TestFolder;
use serde_json::json;
use testkit::chat;

const SHIPPED_EXAMPLES: &str = include_str!("../../../../evals/judge/examples.jsonl");
const RUBRIC: &str = "      skill: swap\n      rubric: The answer names the risk of a worse price.\n";

fn with_judge(url: &str) -> TestFolder {
    let folder = TestFolder::with_minimal();
    folder.edit("evals/suites/skills/swap.yaml", "      skill: swap\n", RUBRIC);
    folder.write("evals/subjects/judge.yaml", chat::subject_file("judge", url));
    folder.write("evals/judge/examples.jsonl", SHIPPED_EXAMPLES);
    folder
}

fn serve_lenient_judge() -> String {
    chat::serve_chat(|_, _| chat::tool_call_reply(1, "verdict", &json!({ "verdict": "pass", "score": 5, "reason": "Fine." })))
}

#[test]
fn run_without_judge_counts_unjudged_rubrics() {
    let folder = with_judge("http://127.0.0.1:9");
    let ran = folder.run(&["run", "--subject", "reference", "--no-store"]).assert_exit(0);
    ran.assert_stdout("rubrics: 1 trial not judged");
    let document = folder.json(&["run", "--subject", "reference", "--no-store"], 0);
    assert_eq!((&document["unjudged"], &document["judge"]), (&json!(1), &json!(null)));
}

#[test]
fn run_report_shows_the_judge_calibration() {
    let folder = with_judge(&serve_lenient_judge());
    folder
        .run(&["run", "--subject", "reference", "--judge", "judge", "--budget", "1"])
        .assert_exit(0)
        .assert_stdout("judge judge: not calibrated");
    let document = folder.json(&["judge", "calibrate", "--judge", "judge"], 0);
    let found = &document["calibration"];
    assert_eq!((found["examples"].as_u64(), found["agreement"].as_f64(), found["kappa"].as_f64()), (Some(136), Some(0.5), Some(0.0)));
    assert_eq!((found["false_pass"].as_f64(), found["order_flips"].as_f64()), (Some(1.0), Some(0.0)));
    let ran = folder.run(&["run", "--subject", "reference", "--judge", "judge", "--budget", "1"]).assert_exit(0);
    let ran = ran.assert_stdout("judge judge: agreement 0.500 on 136 labelled examples, kappa 0.000");
    assert!(!ran.stdout.contains("not judged"), "{}", ran.stdout);
    folder
        .run(&["show", "convert_half_an_ether"])
        .assert_exit(0)
        .assert_stdout("judge")
        .assert_stdout("says pass, 5 of 5")
        .assert_stdout("✓ judged");
    // Rescored without calling the judge.
    let again = folder.json(&["score"], 0);
    assert_eq!(again["unjudged"], 0);
}

#[test]
fn failing_judge_fails_case_unreadable_judge_is_error() {
    let strict = chat::serve_chat(|_, _| {
        chat::tool_call_reply(1, "verdict", &json!({ "verdict": "fail", "score": 1, "reason": "No risk is named." }))
    });
    let folder = with_judge(&strict);
    // The minimal workspace has no gate on the judge, so the failure is named and the run is not clean.
    folder
        .run(&["run", "--subject", "reference", "--judge", "judge", "--budget", "1"])
        .assert_exit(3)
        .assert_stdout("1 failed trial that no gate reads: convert_half_an_ether; add a gate on judged");
    folder.run(&["show", "convert_half_an_ether"]).assert_stdout("says fail, 1 of 5").assert_stdout("✗ judged");
    let mumbling = chat::serve_chat(|_, _| chat::text_reply("{\"verdict\": \"pass\", \"score\": 5, \"reason\": \"x\"}"));
    let folder = with_judge(&mumbling);
    folder
        .run(&["run", "--subject", "reference", "--judge", "judge", "--budget", "1"])
        .assert_exit(3)
        .assert_stdout("rubrics: 1 trial without a readable verdict");
    folder
        .run(&["show", "convert_half_an_ether"])
        .assert_stdout("gave no verdict: the judge made no tool call")
        .assert_stdout("unscorable");
}

#[test]
fn verdict_that_is_cut_off_is_asked_for_once_more() {
    let verdict = json!({ "verdict": "pass", "score": 5, "reason": "Fine." });
    let thoughtful = chat::serve_chat(move |request, _| {
        let limit = ["max_tokens", "max_completion_tokens"].iter().find_map(|key| request[*key].as_u64()).unwrap();
        if limit > 400 {
            chat::tool_call_reply(1, "verdict", &verdict)
        } else {
            chat::completion(&json!({ "role": "assistant", "content": "" }), "length")
        }
    });
    let folder = with_judge(&thoughtful);
    folder.run(&["run", "--subject", "reference", "--judge", "judge", "--budget", "1"]).assert_exit(0);
    folder.run(&["show", "convert_half_an_ether"]).assert_stdout("says pass, 5 of 5");
    let silent = chat::serve_chat(|_, _| chat::completion(&json!({ "role": "assistant", "content": "" }), "length"));
    let folder = with_judge(&silent);
    folder.run(&["run", "--subject", "reference", "--judge", "judge", "--budget", "1"]).assert_exit(3);
}

#[test]
fn calibrate_refuses_bad_files_and_unknown_judges() {
    let folder = with_judge("http://127.0.0.1:9");
    folder.write("bad.jsonl", "{\"id\": \"a\"}\nnot json\n");
    folder
        .run(&["judge", "calibrate", "bad.jsonl", "--judge", "judge"])
        .assert_exit(2)
        .assert_stderr("bad.jsonl: line 1:")
        .assert_stderr("bad.jsonl: line 2:");
    folder.run(&["judge", "calibrate", "absent.jsonl", "--judge", "judge"]).assert_exit(2).assert_stderr("absent.jsonl");
    folder.run(&["judge", "calibrate", "--judge", "echo"]).assert_exit(2).assert_stderr("echo cannot judge");
    folder.run(&["judge", "calibrate", "--judge", "unknown"]).assert_exit(2).assert_stderr("there is no subject");
    folder.run(&["run", "--judge", "unknown"]).assert_exit(2).assert_stderr("there is no subject");
    let one = SHIPPED_EXAMPLES.lines().next().unwrap();
    folder.write("one.jsonl", one);
    let folder = with_judge(&serve_lenient_judge());
    folder.write("one.jsonl", one);
    folder.run(&["judge", "calibrate", "one.jsonl", "--judge", "judge"]).assert_exit(2).assert_stderr("both labels");
}
