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
    // The minimal workspace has no gate on the judge, so the count says that the rubric decided nothing.
    let ran = folder.run(&["run", "--subject", "reference", "--no-store"]).assert_exit(3);
    let ran = ran.assert_stdout("rubrics: 1 trial not judged").assert_stdout("INCOMPLETE");
    ran.assert_stdout("1 unjudged trial that no gate reads: convert_half_an_ether; add a gate on judged, and rerun");
    let document = folder.json(&["run", "--subject", "reference", "--no-store"], 3);
    assert_eq!((&document["unjudged"], &document["judge"]), (&json!(1), &json!(null)));
    assert_eq!(document["unjudged_without_gate"], json!({ "trials": 1, "cases": ["convert_half_an_ether"] }));
    folder.run(&["smoke"]).assert_stdout("no gate reads judged, so the rubric of convert_half_an_ether blocks nothing");
}

#[test]
fn run_report_shows_the_judge_calibration() {
    let folder = with_judge(&serve_lenient_judge());
    folder
        .run(&["run", "--subject", "reference", "--judge", "judge", "--budget", "1"])
        .assert_exit(0)
        .assert_stdout("judge judge: not calibrated");
    let document = folder.json(&["judge", "calibrate", "--judge", "judge"], 1);
    let found = &document["calibration"];
    assert_eq!((found["examples"].as_u64(), found["agreement"].as_f64(), found["kappa"].as_f64()), (Some(136), Some(0.5), Some(0.0)));
    assert_eq!((found["false_pass"].as_f64(), found["order_flips"].as_f64()), (Some(1.0), Some(0.0)));
    let ran = folder.run(&["run", "--subject", "reference", "--judge", "judge", "--budget", "1"]).assert_exit(0);
    let ran = ran.assert_stdout("judge judge: agreement 0.500 on 136 labelled examples, kappa 0.000");
    let said = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("too little agreement to rely on its verdicts"), "{said}");
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

/// Returns a judge that gives each shipped example the verdict of this function, which gets the label.
fn serve_judge_of_labels(verdict: impl Fn(&str, usize) -> &'static str + Send + 'static) -> String {
    let examples: Vec<serde_json::Value> = SHIPPED_EXAMPLES.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    chat::serve_chat(move |request, n| {
        let prompt = request["messages"].to_string();
        let is_asked = |example: &&serde_json::Value| {
            let texts = example["material"].as_array().unwrap().iter();
            texts.chain([&example["rubric"]]).all(|part| {
                let text = part.get("text").unwrap_or(part).to_string();
                // The prompt is JSON in the request, so quotes and line breaks are escaped in both.
                prompt.contains(text.trim_matches('"'))
            })
        };
        let label = examples.iter().filter(is_asked).max_by_key(|example| example.to_string().len()).expect("a shipped example")["label"]
            .as_str()
            .unwrap();
        let word = verdict(label, n);
        chat::tool_call_reply(1, "verdict", &json!({ "verdict": word, "score": if word == "pass" { 5 } else { 1 }, "reason": "So." }))
    })
}

#[test]
fn calibrate_passes_a_judge_that_agrees() {
    let folder = with_judge(&serve_judge_of_labels(|label, _| if label == "pass" { "pass" } else { "fail" }));
    folder
        .run(&["judge", "calibrate", "--judge", "judge"])
        .assert_exit(0)
        .assert_stdout("1.000")
        .assert_stdout("0.973 to 1.000")
        .assert_stdout("reliable: it needs agreement 0.800 and kappa 0.600")
        .assert_stdout("spent 0.");
    let document = folder.json(&["judge", "calibrate", "--judge", "judge", "--min-agreement", "1", "--min-kappa", "1"], 0);
    assert!(document["spent_usd"].as_f64().unwrap() > 0.0 && document["unread"] == json!([]), "{document:#}");
}

#[test]
fn calibrate_fails_a_judge_that_tosses_a_coin() {
    let folder = with_judge(&serve_judge_of_labels(|_, n| if n.is_multiple_of(2) { "pass" } else { "fail" }));
    let judge = ["judge", "calibrate", "--judge", "judge", "--concurrency", "1"];
    folder.run(&judge).assert_exit(1).assert_stdout("not reliable");
    assert_eq!(folder.json(&judge, 1)["exit"], 1);
    folder.run(&[&judge[..], &["--min-agreement", "0", "--min-kappa", "0"]].concat()).assert_exit(0);
    folder.run(&[&judge[..], &["--min-agreement", "80"]].concat()).assert_exit(2).assert_stderr("between 0 and 1");
}

#[test]
fn calibrate_lists_verdicts_that_it_cannot_read() {
    let folder = with_judge(&chat::serve_chat(|_, _| chat::text_reply("I would say that this one passes.")));
    let judge = ["judge", "calibrate", "--judge", "judge"];
    let ran = folder.run(&judge).assert_exit(3).assert_stdout("136 examples without a readable verdict");
    let ran = ran
        .assert_stdout("the judge made no tool call; it said \"I would say that this one passes.\"")
        .assert_stdout("no verdict could be read");
    assert!(!ran.stdout.contains("0.000"), "a rate of 0 would be a measurement: {}", ran.stdout);
    assert_eq!(folder.json(&judge, 3)["unread"].as_array().unwrap().len(), 136);
    let odd = chat::serve_chat(|_, _| chat::tool_call_reply(1, "verdict", &json!({ "verdict": "maybe", "score": 3, "reason": "Hm." })));
    with_judge(&odd).run(&judge).assert_exit(3).assert_stdout("\"maybe\" is not one of");
}
