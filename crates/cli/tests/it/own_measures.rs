//! Assertions of a case and scorers of the workspace, from the files to the verdict.

use crate::harness::TestFolder;
use serde_json::Value;
use std::time::Duration;
use testkit::{chat, trader};

const SUITE: &str = "evals/suites/behavior/trader.yaml";
const GATE: &str = "  - id: short_answers\n    spec: ours\n    scorer: short_answers\n    slice: pooled\n    tiers: [2]\n    min_cases: 1\n    aggregate: rate\n    at_least: 1.0\n    why: The answer is short.\n";

/// Returns a minimal workspace with assertions, the example scorer and a gate on it.
fn folder() -> TestFolder {
    let folder = TestFolder::with_minimal();
    let assertions = "forbid: [token_transfer]\n      assert:\n        - { type: json_path, path: $.status, equals: success }\n        - { type: json_path, path: $.amount, equals: \"250\", on: { called: swap_execute } }\n        - { type: not-contains, value: error, on: { returned: swap_execute } }";
    folder.edit(SUITE, "forbid: [token_transfer]", assertions);
    folder.write("evals/scorers/short_answers.py", include_str!("../../../../examples/scorers/short_answers.py"));
    let scorers = "scorers:\n  - id: short_answers\n    about: Counts the answers that have at most 60 words. More is noise.\n    command: [python3, evals/scorers/short_answers.py]\n    applies: { suites: [behavior] }\n";
    folder.write("evals/scorers.yaml", scorers);
    let gates = folder.read("evals/gates.yaml");
    folder.write("evals/gates.yaml", format!("{gates}{GATE}"));
    folder
}

#[test]
fn own_scorer_and_assertions_decide_a_run() {
    let folder = folder();
    folder.run(&["smoke"]).assert_exit(0).assert_stdout("smoke passed");
    let document = folder.json(&["run", "--subject", "reference"], 0);
    let gate = document["verdicts"].as_array().unwrap().iter().find(|gate| gate["gate"] == "short_answers").unwrap();
    assert_eq!((&gate["verdict"], &gate["n"]), (&"met".into(), &1.into()), "{gate:#}");
    // The path may also start from the workspace, so that the current folder does not matter.
    folder.edit("evals/scorers.yaml", "python3, evals/scorers/", "python3, scorers/");
    folder.run(&["run", "--subject", "reference", "--no-store"]).assert_exit(0);
    folder.edit("evals/scorers.yaml", "python3, scorers/", "python3, evals/scorers/");
    folder.run(&["score"]).assert_exit(0);
    folder.run(&["show", "sell_usdc_for_ether"]).assert_exit(0).assert_stdout("short_answers reads 1 of 1");
}

/// A scorer that fails is no pass, even if no gate reads it.
#[test]
fn failing_scorer_without_a_gate_makes_the_run_incomplete() {
    let folder = folder();
    folder.edit("evals/gates.yaml", GATE, "");
    folder.run(&["smoke", "--verbose"]).assert_exit(0).assert_stdout("no gate reads scorer short_answers");
    folder.run(&["run", "--subject", "reference"]).assert_exit(0);
    folder.write("evals/scorers/short_answers.py", "import sys\nsys.exit(1)\n");
    let run = folder.run(&["run", "--subject", "reference"]).assert_exit(3);
    let said = run.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("scorer short_answers has no reading of 1 trial:") && said.contains("so the run is incomplete"), "{said}");
    let document = folder.json(&["run", "--subject", "reference"], 3);
    assert_eq!(document["failed_scorers"]["trials"], 1, "{document:#}");
}

#[test]
fn missing_script_of_a_scorer_is_a_warning() {
    let folder = folder();
    folder.edit("evals/scorers.yaml", "evals/scorers/short_answers.py", "scorers/short_answer.py");
    let warning = "scorer short_answers runs scorers/short_answer.py, which does not exist in the workspace";
    folder.run(&["smoke", "--verbose"]).assert_exit(0).assert_stdout(warning);
    folder.edit("evals/scorers.yaml", "python3, scorers/short_answer.py", "bash, -c, \"cd lib && python3 tone.py\"");
    let smoke = folder.run(&["smoke", "--verbose"]).assert_exit(0);
    assert!(!smoke.stdout.contains("does not exist"), "{}", smoke.stdout);
}

#[test]
fn own_scorer_is_listed_and_explained() {
    let folder = folder();
    folder.run(&["list", "scorers"]).assert_exit(0).assert_stdout("Counts the answers that have at most 60 words.");
    folder.run(&["explain", "short_answers"]).assert_exit(0).assert_stdout("python3 evals/scorers/short_answers.py");
    folder.edit("evals/gates.yaml", "scorer: short_answers", "scorer: short_answer");
    folder.run(&["smoke"]).assert_exit(1).assert_stdout("did you mean \"short_answers\"?");
    folder.edit("evals/scorers.yaml", "id: short_answers", "id: hit");
    folder.run(&["run"]).assert_exit(2);
}

#[test]
fn failed_assertion_is_named_with_what_was_found() {
    let folder = folder();
    folder.edit(SUITE, "equals: success", "equals: shipped");
    folder.run(&["smoke"]).assert_exit(1).assert_stdout("misses its assertion json_path $.status equals \"shipped\"");
    folder.run(&["run", "--subject", "reference"]).assert_exit(1);
    let shown = folder.run(&["show", "sell_usdc_for_ether"]).assert_exit(0);
    assert!(shown.stdout.contains("json_path $.status equals \"shipped\": found \"success\" at $.status"), "{}", shown.stdout);
    folder.edit(SUITE, "type: not-contains, value: error", "type: not-contain, value: error");
    let refused = folder.run(&["run"]).assert_exit(2);
    assert!(refused.stderr.contains("did you mean \"contains\"?") || refused.stdout.contains("did you mean \"contains\"?"), "{refused:?}");
}

/// A scorer of answers finds none where a trial ends with the first call: smoke says so before a run does.
#[test]
fn scorer_of_answers_without_answers_is_named_by_smoke_and_explain() {
    let folder = folder();
    folder.edit("evals/scorers.yaml", "    applies: { suites: [behavior] }\n", "");
    let smoke = folder.run(&["smoke", "--verbose"]).assert_exit(0);
    smoke
        .assert_stdout("cases that end after their first call, such as how_much_usdc; nothing is said there")
        .assert_stdout("add applies: { suites: [behavior] }")
        .assert_stdout("evals/scorers.yaml:2");
    folder.run(&["explain", "short_answers"]).assert_exit(0).assert_stdout("end after the first call, so nothing is said there");
    assert!(folder.json(&["explain", "short_answers"], 0)["cases_without_words"].as_u64().unwrap() > 0);
}

#[test]
fn assertion_on_words_of_a_profile_case_says_why_there_are_none() {
    let folder = TestFolder::with_minimal();
    let suite = "evals/suites/tool_selection/trader.yaml";
    let text = folder.read(suite);
    let at = text.find("    expect:\n").unwrap() + "    expect:\n".len();
    folder.write(suite, format!("{}      assert: [{{ type: icontains, value: balance }}]\n{}", &text[..at], &text[at..]));
    folder
        .run(&["smoke"])
        .assert_exit(1)
        .assert_stdout("nothing was said: a case on a profile ends after its first call")
        .assert_stdout("let an agent answer (surface: { agent: … }), or test the call (on: { called: … })");
}

/// A gate that is met on too few cases says so, and the tier agrees with what the run said.
#[test]
fn gates_met_on_few_cases_are_named_and_the_tier_agrees() {
    let folder = folder();
    folder.edit(
        "evals/gates.yaml",
        "    scorer: short_answers\n    slice: pooled\n    tiers: [2]\n    min_cases: 1",
        "    scorer: short_answers\n    slice: pooled\n    tiers: [2]\n    min_cases: 7",
    );
    let run = folder.run(&["run", "--subject", "reference"]).assert_exit(0);
    let said = run.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("met on fewer cases than min_cases: ") && said.contains("; no evidence with --tier 2"), "{said}");
    folder.run(&["score", "--verbose"]).assert_exit(0).assert_stdout("short_answers 1 of 7");
    let tier = folder.json(&["run", "--tier", "2", "--subject", "reference"], 3);
    let gate = tier["verdicts"].as_array().unwrap().iter().find(|gate| gate["gate"] == "short_answers").unwrap();
    assert_eq!(gate["verdict"], "no_evidence", "{gate:#}");
    let enough = folder.run(&["run", "--tier", "2", "--subject", "reference"]);
    assert!(!enough.stdout.contains("met on fewer cases"), "a tier has judged by min_cases: {}", enough.stdout);
}

/// Assertions on the replies of a model that needs 30 ms and 15 tokens for each of five, at a dollar per million tokens.
const REPLY_MS: u64 = 30;
const WITHIN: &str = "[{ type: latency, threshold: 50000 }, { type: cost, threshold: 0.000075 }]";
const NOT_WITHIN: &str = "[{ type: not-latency, threshold: 149 }, { type: not-cost, threshold: 0.000074 }]";
const TOO_MUCH: &str = "[{ type: latency, threshold: 149 }, { type: cost, threshold: 0.000074 }]";

fn use_of_replies(folder: &TestFolder) -> Value {
    let shown = folder.json(&["show", "sell_usdc_for_ether"], 0);
    let events = shown["events"].as_array().unwrap().iter();
    let used: Vec<&Value> = events.filter_map(|event| event["happened"].get("used")).collect();
    assert_eq!(used.len(), 1, "{shown:#}");
    used[0].clone()
}

#[test]
fn latency_and_cost_are_those_of_the_replies() {
    let folder = TestFolder::with_minimal();
    let url = chat::serve_chat(|request, _| {
        std::thread::sleep(Duration::from_millis(REPLY_MS));
        trader::next_step(request)
    });
    folder.write("evals/subjects/local.yaml", chat::subject_file("local", &url));
    folder.edit(SUITE, "forbid: [token_transfer]", &format!("forbid: [token_transfer]\n      assert: {WITHIN}"));
    folder.run(&["smoke"]).assert_exit(0);
    let run = ["run", "--subject", "local", "--case", "sell_usdc_for_ether", "--budget", "1"];
    let document = folder.json(&[&run[..], &["--record"]].concat(), 0);
    assert_eq!(document["passed"], 1, "{document:#}");
    let live = use_of_replies(&folder);
    assert!(live["latency_ms"].as_u64().unwrap() >= 5 * REPLY_MS, "{live}");
    // In billionths of a US dollar: what the run has spent.
    assert_eq!((&live["cost"], document["spent_usd"].as_f64()), (&75_000.into(), Some(0.000_075)), "{live}");
    // A replay has the time and the cost of the recording, although it is faster and free.
    let replayed = folder.json(&[&run[..], &["--replay", "--no-cache"]].concat(), 0);
    assert_eq!(replayed["spent_usd"].as_f64(), Some(0.0), "{replayed:#}");
    assert_eq!(use_of_replies(&folder), live);
    folder.edit(SUITE, WITHIN, NOT_WITHIN);
    folder.json(&[&run[..], &["--replay", "--no-cache"]].concat(), 0);
    folder.edit(SUITE, NOT_WITHIN, TOO_MUCH);
    let missed = folder.json(&[&run[..], &["--replay", "--no-cache"]].concat(), 1);
    assert_eq!(missed["passed"], 0, "{missed:#}");
    let took = format!("latency threshold 149: took {} ms", live["latency_ms"]);
    folder
        .run(&["show", "sell_usdc_for_ether"])
        .assert_exit(0)
        .assert_stdout(&took)
        .assert_stdout("cost threshold 0.000074: cost $0.000075");
}

/// Time and cost of subjects without stored replies are unknown, and unknown is never a pass, with `not-` neither.
#[test]
fn latency_and_cost_without_stored_replies_are_no_evidence() {
    let folder = TestFolder::with_minimal();
    let url = chat::serve_chat(|request, _| trader::next_step(request));
    folder.edit(SUITE, "forbid: [token_transfer]", &format!("forbid: [token_transfer]\n      assert: {WITHIN}"));
    for (from, to) in [(WITHIN, WITHIN), (WITHIN, NOT_WITHIN)] {
        folder.edit(SUITE, from, to);
        for subject in ["reference", &format!("chat:{url}")] {
            let document = folder.json(&["run", "--subject", subject, "--case", "sell_usdc_for_ether"], 3);
            assert_eq!((&document["passed"], &document["failed"]), (&0.into(), &0.into()), "{subject}: {document:#}");
            let text = folder.run(&["run", "--subject", subject, "--case", "sell_usdc_for_ether"]).assert_exit(3).stdout;
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(text.contains("no response time is stored with the replies"), "{subject}: {text}");
        }
    }
}
