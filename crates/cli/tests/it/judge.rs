//! A judge is measured on labelled examples, asked only when it is named, and never believed without a plain verdict.

use crate::harness::Folder;
use serde_json::json;
use testkit::chat;

const SHIPPED: &str = include_str!("../../../../evals/judge/examples.jsonl");
const RUBRIC: &str = "      skill: swap\n      rubric: The answer names the risk of a worse price.\n";

fn with_judge(url: &str) -> Folder {
    let folder = Folder::with_minimal();
    folder.edit("evals/suites/skills/swap.yaml", "      skill: swap\n", RUBRIC);
    folder.write("evals/subjects/judge.yaml", chat::subject_file("judge", url));
    folder.write("evals/judge/examples.jsonl", SHIPPED);
    folder
}

fn lenient() -> String {
    chat::serve(|_, _| chat::tool_call(1, "verdict", &json!({ "verdict": "pass", "score": 5, "reason": "Fine." })))
}

#[test]
fn without_a_judge_rubrics_are_counted_and_everything_else_is_judged() {
    let folder = with_judge("http://127.0.0.1:9");
    let ran = folder.run(&["run", "--subject", "reference", "--no-store"]).exits(0);
    ran.prints("rubrics: 1 trials were not judged");
    let document = folder.json(&["run", "--subject", "reference", "--no-store"], 0);
    assert_eq!((&document["unjudged"], &document["judge"]), (&json!(1), &json!(null)));
}

#[test]
fn a_judge_is_calibrated_and_its_calibration_stands_beside_what_it_judges() {
    let folder = with_judge(&lenient());
    folder
        .run(&["run", "--subject", "reference", "--judge", "judge", "--budget", "1"])
        .exits(0)
        .prints("judge judge: nobody has measured how far it can be trusted");
    let document = folder.json(&["judge", "calibrate", "--judge", "judge"], 0);
    let found = &document["calibration"];
    assert_eq!((found["examples"].as_u64(), found["agreement"].as_f64(), found["kappa"].as_f64()), (Some(136), Some(0.5), Some(0.0)));
    assert_eq!((found["false_pass"].as_f64(), found["order_flips"].as_f64()), (Some(1.0), Some(0.0)));
    let ran = folder.run(&["run", "--subject", "reference", "--judge", "judge", "--budget", "1"]).exits(0);
    let ran = ran.prints("judge judge: agrees with people on 0.500 of 136 labelled examples, kappa 0.000");
    assert!(!ran.stdout.contains("not judged"), "{}", ran.stdout);
    folder.run(&["show", "convert_half_an_ether"]).exits(0).prints("judge").prints("says pass, 5 of 5").prints("✓ judged");
    // Scored again, without asking anybody.
    let again = folder.json(&["score"], 0);
    assert_eq!(again["unjudged"], 0);
}

#[test]
fn a_judge_that_fails_everything_fails_the_case_and_one_that_mumbles_is_an_error() {
    let strict =
        chat::serve(|_, _| chat::tool_call(1, "verdict", &json!({ "verdict": "fail", "score": 1, "reason": "No risk is named." })));
    let folder = with_judge(&strict);
    folder.run(&["run", "--subject", "reference", "--judge", "judge", "--budget", "1"]).exits(0);
    folder.run(&["show", "convert_half_an_ether"]).prints("says fail, 1 of 5").prints("✗ judged").prints("✗ case_pass");
    let mumbling = chat::serve(|_, _| chat::text("{\"verdict\": \"pass\", \"score\": 5, \"reason\": \"x\"}"));
    let folder = with_judge(&mumbling);
    folder.run(&["run", "--subject", "reference", "--judge", "judge", "--budget", "1"]).exits(3).prints("rubrics: 1 trials got no verdict");
    folder.run(&["show", "convert_half_an_ether"]).prints("gave no verdict: the judge called nothing").prints("unscorable");
}

#[test]
fn bad_files_and_absent_judges_are_refused() {
    let folder = with_judge("http://127.0.0.1:9");
    folder.write("bad.jsonl", "{\"id\": \"a\"}\nnot json\n");
    folder.run(&["judge", "calibrate", "bad.jsonl", "--judge", "judge"]).exits(2).says("bad.jsonl: line 1:").says("bad.jsonl: line 2:");
    folder.run(&["judge", "calibrate", "absent.jsonl", "--judge", "judge"]).exits(2).says("absent.jsonl");
    folder.run(&["judge", "calibrate", "--judge", "echo"]).exits(2).says("echo cannot judge");
    folder.run(&["judge", "calibrate", "--judge", "nobody"]).exits(2).says("there is no subject");
    folder.run(&["run", "--judge", "nobody"]).exits(2).says("there is no subject");
    let one = SHIPPED.lines().next().unwrap();
    folder.write("one.jsonl", one);
    let folder = with_judge(&lenient());
    folder.write("one.jsonl", one);
    folder.run(&["judge", "calibrate", "one.jsonl", "--judge", "judge"]).exits(2).says("both labels");
}
