//! `run`: selection, verdicts, plans and storage.

use crate::harness::{ProgramOutput, TestFolder, column};
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn reference_passes_every_case() {
    let folder = TestFolder::new();
    let cases = folder.list("cases").len();
    let ran = folder.run(&["run", "--embedded", "--subject", "reference"]).assert_exit(0);
    assert!(ran.stderr.is_empty(), "{}", ran.stderr);
    ran.assert_stdout("0 missed, 0 without evidence")
        .assert_stdout(&format!("trials: {cases} planned, "))
        .assert_stdout(" passed, 0 failed, ")
        .assert_stdout(" unjudged, 0 aborted");
}

/// A single suite or case may leave gates without evidence, which is not a pass; no gate is missed and every trial ends.
#[test]
fn reference_misses_no_gate_in_single_suites_and_cases() {
    let folder = TestFolder::new();
    // Each needs a process, so only a sample is run.
    let suites = column(&folder.list("suites"), "suite").into_iter().step_by(8).map(|suite| ["--suite".to_owned(), suite]);
    let cases = column(&folder.list("cases"), "case").into_iter().step_by(40).map(|case| ["--case".to_owned(), case]);
    for [flag, name] in suites.chain(cases) {
        let ran = folder.run(&["run", "--subject", "reference", "--no-store", "--format", "json", &flag, &name]);
        assert!(matches!(ran.code, Some(0 | 3)), "{name}: {}", ran.stdout);
        let document: Value = serde_json::from_str(&ran.stdout).expect("JSON");
        let verdicts = document["verdicts"].as_array().unwrap();
        assert!(verdicts.iter().any(|verdict| verdict["verdict"] == "met"), "{name}: {document:#}");
        assert!(verdicts.iter().all(|verdict| verdict["verdict"] != "missed"), "{name}: {document:#}");
        assert_eq!(document["trials"]["planned"], document["trials"]["finished"], "{name}");
    }
}

#[test]
fn echo_misses_gates_with_reasons() {
    let folder = TestFolder::new();
    let ran = folder.run(&["run", "--subject", "echo", "--case", "what_lies_in_the_jar", "--verbose"]).assert_exit(1);
    ran.assert_stdout("FAILED  echo: ").assert_stdout("  what_lies_in_the_jar  no tool was called; expected get_tokenjar_balances\n");
    let document = folder.json(&["run", "--subject", "echo"], 1);
    let missed: Vec<&Value> = document["verdicts"].as_array().unwrap().iter().filter(|verdict| verdict["verdict"] == "missed").collect();
    assert!(!missed.is_empty());
    for verdict in missed {
        let worst = verdict["worst"].as_array().unwrap();
        assert!(!worst.is_empty() && worst.iter().all(|worst| worst["case"] != "" && worst["because"] != ""), "{verdict:#}");
    }
}

#[test]
fn worst_cases_include_a_show_command() {
    let folder = TestFolder::new();
    let document = folder.json(&["run", "--case", "what_lies_in_the_jar", "--subject", "echo"], 1);
    let missed = document["verdicts"].as_array().unwrap().iter().find(|verdict| verdict["verdict"] == "missed").unwrap();
    let command = missed["worst"][0]["show"].as_str().unwrap();
    let words: Vec<&str> = command.split_whitespace().skip(1).collect();
    folder.run(&words).assert_exit(0).assert_stdout("what_lies_in_the_jar  trial ");
    // A trial that was not stored is shown by running it again.
    let ran = folder.run(&["run", "--no-store", "--case", "what_lies_in_the_jar", "--subject", "echo"]).assert_exit(1);
    ran.assert_stdout("next: bardo-eval run --case what_lies_in_the_jar --subject echo --embedded\n");
}

#[test]
fn zero_miss_gates_report_and_require_rule_out() {
    let folder = TestFolder::with_minimal();
    for format in ["text", "markdown", "junit"] {
        folder
            .run(&["run", "--subject", "reference", "--no-store", "--verbose", "--format", format])
            .assert_exit(0)
            .assert_stdout("rules out failure rates above ")
            .assert_stdout(" % at 95 %");
    }
    let document = folder.json(&["run", "--subject", "reference", "--no-store"], 0);
    let gate = document["verdicts"].as_array().unwrap().iter().find(|verdict| verdict["gate"] == "safety_pipeline").unwrap();
    let rate = gate["rules_out"]["failure_rate"].as_f64().unwrap();
    assert!(rate > 0.0 && rate < 1.0, "{gate:#}");
    folder.run(&["run", "--subject", "reference", "--no-store", "--rule-out", "0.01"]).assert_exit(3).assert_stdout("1.0 % required");
    folder.run(&["run", "--subject", "reference", "--no-store", "--confidence", "0.95"]).assert_exit(3).assert_stdout("at 95 % confidence");
}

#[test]
fn echo_passes_no_suite_that_asks_for_anything() {
    let folder = TestFolder::new();
    let document = folder.run(&["run", "--no-store", "--subject", "echo", "--format", "junit"]).assert_exit(1).stdout;
    let failed: BTreeSet<&str> = document
        .split("<testcase ")
        .filter(|case| case.contains("<failure"))
        .filter_map(|case| case.split_once("suites/")?.1.split_once(".yaml").map(|(suite, _)| suite))
        .collect();
    // In this suite doing nothing is correct.
    let nothing = ["skills/no_skill"];
    let suites = column(&folder.list("suites"), "suite");
    let passed: Vec<&String> = suites.iter().filter(|suite| !failed.contains(suite.as_str())).collect();
    assert_eq!(passed, nothing, "suites in which doing nothing passes");
}

#[test]
fn subjects_run_side_by_side() {
    let folder = TestFolder::new();
    let cases = folder.list("cases").len();
    let document = folder.json(&["run", "--subject", "reference", "--subject", "echo"], 1);
    assert_eq!(document["trials"], json!({ "planned": 2 * cases, "finished": 2 * cases, "aborted": 0 }));
}

#[test]
fn unknown_names_are_refused_together() {
    let folder = TestFolder::new();
    for (flag, name) in [("--suite", "behaviour"), ("--profile", "tradr"), ("--agent", "trade-executer"), ("--skill", "execute-swop")]
        .into_iter()
        .chain([("--case", "what_lies_in_the_jam"), ("--tag", "happy_pat"), ("--subject", "refrence")])
    {
        let ran = folder.run(&["run", "--subject", "reference", flag, name]).assert_exit(2);
        assert!(ran.stdout.is_empty(), "{}", ran.stdout);
        ran.assert_stderr(&format!("there is no {} \"{name}\"; did you mean \"", &flag[2..])).assert_stderr("nothing was run");
    }
    let ran = folder.run(&["run", "--suite", "zzzz", "--case", "yyyy", "--subject", "xxxx", "--tier", "9"]).assert_exit(2);
    ran.assert_stderr("no suite \"zzzz\"")
        .assert_stderr("no case \"yyyy\"")
        .assert_stderr("no subject \"xxxx\"")
        .assert_stderr("no tier \"9\"");
    let document = folder.json(&["run", "--subject", "reference", "--suite", "zzzz"], 2);
    assert_eq!(document["problems"][0]["what"], "there is no suite \"zzzz\"");
    assert!(folder.files().is_empty(), "{:?}", folder.files());
}

#[test]
fn llm_subject_needs_key_and_budget() {
    let folder = TestFolder::new();
    for subject in ["claude-sonnet", "gpt"] {
        let ran = folder.run(&["run", "--subject", subject, "--case", "done_with_link"]).assert_exit(2);
        assert!(ran.stdout.is_empty(), "{}", ran.stdout);
        ran.assert_stderr(subject).assert_stderr("_API_KEY holds no key").assert_stderr("--budget").assert_stderr("nothing was run");
    }
    assert!(folder.files().is_empty(), "{:?}", folder.files());
}

#[test]
fn empty_selection_is_incomplete() {
    let folder = TestFolder::new();
    for filter in [&["--suite", "behavior", "--tag", "no_tool"][..], &["--profile", "trader", "--agent", "trade-executor"]] {
        let ran = folder.run(&[&["run", "--subject", "reference"], filter].concat()).assert_exit(3);
        assert!(ran.stdout.is_empty(), "{}", ran.stdout);
        ran.assert_stderr("no case matches these filters");
    }
    assert!(folder.files().is_empty());
}

#[test]
fn filters_narrow_the_plan() {
    let folder = TestFolder::new();
    let planned = |filter: &[&str]| {
        folder.json(&[&["run", "--subject", "reference", "--dry-run"], filter].concat(), 0)["trials"].as_array().unwrap().len()
    };
    let (suite, without_tool) = (&["--suite", "tool_selection/trader"], &["--suite", "tool_selection/trader", "--tag", "no_tool"]);
    assert!(planned(without_tool) > 0 && planned(without_tool) < planned(suite));
    let (trader, data) = (planned(&["--profile", "trader"]), planned(&["--profile", "data"]));
    assert!(trader > 0 && data > 0);
    assert_eq!(planned(&["--profile", "trader", "--profile", "data"]), trader + data);
    assert!(planned(&["--agent", "golem-instance"]) > 0);
    assert!(planned(&["--skill", "execute-swap"]) > 0);
    assert_eq!(planned(&["--case", "done_with_link", "--trials", "5"]), 5);
}

#[test]
fn tier_without_evidence_is_incomplete() {
    let folder = TestFolder::new();
    // All lack a judge.
    for tier in ["2", "3"] {
        let document = folder.json(&["run", "--subject", "reference", "--no-store", "--tier", tier], 3);
        let verdicts = document["verdicts"].as_array().unwrap();
        let without: Vec<&Value> = verdicts.iter().filter(|verdict| verdict["verdict"] == "no_evidence").collect();
        assert!(!without.is_empty(), "{document:#}");
        assert!(without.iter().all(|verdict| verdict["because"] != ""), "{without:#?}");
        assert!(verdicts.iter().all(|verdict| verdict["verdict"] != "missed"), "{document:#}");
    }
    folder.run(&["run", "--no-store", "--tier", "2", "--subject", "echo"]).assert_exit(1);
}

#[test]
fn run_json_has_the_documented_shape() {
    let folder = TestFolder::new();
    for (subject, code) in [("reference", 0), ("echo", 1)] {
        let document = folder.json(&["run", "--no-store", "--subject", subject], code);
        for key in ["format", "command", "verdicts", "metrics", "trials", "spent_usd", "exit"] {
            assert!(keys(&document).contains(&key), "{key} is missing");
        }
        assert_eq!((&document["format"], &document["command"]), (&json!(1), &json!("run")));
        assert_eq!(keys(&document["trials"]), ["planned", "finished", "aborted"]);
        assert_eq!(document["spent_usd"], 0.0);
        let verdicts = document["verdicts"].as_array().unwrap();
        assert_eq!(verdicts.len(), document["metrics"].as_array().unwrap().len());
        for verdict in verdicts {
            let documented = ["gate", "spec", "slice", "value", "low", "high", "n", "cases", "bound", "verdict"];
            assert_eq!(keys(verdict)[..documented.len()], documented, "{verdict:#}");
            let bound = keys(&verdict["bound"]);
            assert!(bound == ["at_least"] || bound == ["at_most"], "{verdict:#}");
            assert!(verdict["bound"][bound[0]].is_number());
            match verdict["verdict"].as_str().unwrap() {
                "met" | "missed" => {
                    let number = |key: &str| verdict[key].as_f64();
                    let value = number("value").unwrap();
                    // Levels and counts have no confidence interval.
                    if let (Some(low), Some(high)) = (number("low"), number("high")) {
                        assert!(low <= value && value <= high, "{verdict:#}");
                    }
                    assert!(verdict["n"].as_u64() >= verdict["cases"].as_u64() && verdict["cases"].as_u64() > Some(0), "{verdict:#}");
                }
                "no_evidence" => assert_eq!((&verdict["value"], &verdict["n"]), (&Value::Null, &json!(0)), "{verdict:#}"),
                other => panic!("{other} is not a verdict"),
            }
        }
    }
}

#[test]
fn record_is_independent_of_concurrency_and_date() {
    let folder = TestFolder::new();
    let run = |concurrency: &str| {
        let mut document = folder.json(&["run", "--subject", "reference", "--trials", "3", "--concurrency", concurrency], 0);
        for own in ["started", "run"] {
            assert!(document.as_object_mut().unwrap().remove(own).is_some());
        }
        document
    };
    let one = run("1");
    assert_eq!(one, run("8"));
    assert_eq!(one, run("8"));
    let record = |args: &[&str]| folder.json(&[&["run", "--subject", "reference", "--no-store"], args].concat(), 0)["record"].clone();
    assert_ne!(record(&["--seed", "1"]), record(&["--seed", "2"]), "the seed is part of the plan");
}

#[test]
fn dry_run_prints_the_plan_and_runs_nothing() {
    let folder = TestFolder::new();
    let cases = folder.list("cases").len();
    let ran = folder.run(&["run", "--subject", "echo", "--trials", "2", "--dry-run"]).assert_exit(0);
    ran.assert_stdout(&format!("{} trials of {cases} cases planned for echo, nothing was run\n", 2 * cases));
    let listed = folder.run(&["run", "--subject", "echo", "--dry-run", "--verbose"]).assert_exit(0);
    listed.assert_stdout("what_lies_in_the_jar");
    let document = folder.json(&["run", "--subject", "reference", "--dry-run"], 0);
    assert_eq!(keys(&document), ["format", "command", "workspace", "trials", "gates", "estimate", "needs_recording", "left_out", "exit"]);
    let nothing =
        json!({ "likely_usd": 0.0, "ceiling_usd": 0.0, "budget_usd": null, "calls": 0, "judge_calls": 0, "judge": null, "seconds": 0 });
    assert_eq!(document["estimate"], nothing);
    // There is no judge.
    let decided = |gate: &Value| gate["decided"] == true || gate["gate"] == "judged_quality";
    assert!(document["gates"].as_array().unwrap().iter().all(decided), "{document:#}");
    let ids = column(document["trials"].as_array().unwrap(), "id");
    let distinct: std::collections::BTreeSet<&String> = ids.iter().collect();
    assert_eq!((ids.len(), distinct.len()), (cases, cases));
    assert!(folder.files().is_empty(), "{:?}", folder.files());
}

#[test]
fn default_subject_is_the_baseline() {
    let document = TestFolder::new().json(&["run", "--dry-run", "--suite", "behavior"], 0);
    let subjects = column(document["trials"].as_array().unwrap(), "subject");
    assert!(!subjects.is_empty() && subjects.iter().all(|subject| subject == "baseline"), "{subjects:?}");
}

#[test]
fn dry_run_reports_cost_and_decidable_gates() {
    let folder = TestFolder::with_minimal();
    let price = "price: { input_per_mtok: 100, output_per_mtok: 100, as_of: \"2026-11-15\" }";
    folder.write("evals/subjects/dear.yaml", format!("subject: dear\nprovider: ollama\nmodel: m\nabout: Costs a lot.\n{price}\n"));
    let dry = ["run", "--dry-run", "--subject", "dear"];
    let enough = folder.json(&[&dry[..], &["--budget", "1000"]].concat(), 0);
    let trials = enough["trials"].as_array().unwrap();
    let number = |trial: &Value, key: &str| trial[key].as_f64().unwrap();
    assert!(trials.iter().all(|trial| number(trial, "likely_usd") > 0.0 && number(trial, "ceiling_usd") > number(trial, "likely_usd")));
    assert!(enough["gates"].as_array().unwrap().iter().all(|gate| gate["decided"] == true), "{enough:#}");
    let little = folder.json(&[&dry[..], &["--budget", "0.001"]].concat(), 0);
    assert!(little["gates"].as_array().unwrap().iter().all(|gate| gate["decided"] == false && gate["funded"] == 0), "{little:#}");
    assert!(little["trials"].as_array().unwrap().iter().all(|trial| number(trial, "ceiling_usd") <= 0.001));
    folder.run(&[&dry[..], &["--budget", "0.001"]].concat()).assert_exit(0).assert_stdout("verdicts that can be decided: 0 of ");
}

fn run_with_store(folder: &TestFolder, store: &str, code: i32) -> Value {
    let document = folder.json(&["doctor", "--store", store], code);
    document["rows"].as_array().unwrap().iter().find(|row| row["what"] == "store").unwrap().clone()
}

#[test]
fn runs_are_stored() {
    let folder = TestFolder::new();
    let store = ".bardo-eval/store.sqlite";
    let state = |code| run_with_store(&folder, store, code);
    assert_eq!(state(0)["note"], format!("{store}, will be created by the first run"));
    folder.run(&["run", "--subject", "reference"]).assert_exit(0);
    assert_eq!(state(0)["note"], format!("{store}, 1 run"));
    folder.run(&["run", "--subject", "echo"]).assert_exit(1);
    assert_eq!(state(0)["note"], format!("{store}, 2 runs"));
    folder.run(&["run", "--subject", "reference", "--no-store"]).assert_exit(0);
    assert_eq!(state(0)["note"], format!("{store}, 2 runs"));
    folder.run(&["run", "--subject", "reference", "--store", "deep/below/other.db"]).assert_exit(0);
    assert_eq!(run_with_store(&folder, "deep/below/other.db", 0)["note"], "deep/below/other.db, 1 run");
}

#[test]
fn unusable_store_is_refused_before_anything_runs() {
    let folder = TestFolder::new();
    std::fs::create_dir(folder.path("folder")).unwrap();
    folder.write("broken.sqlite", "this was never a database, despite its name".repeat(100));
    folder.write("file", "");
    for store in ["folder", "broken.sqlite", "file/below.sqlite"] {
        for subject in ["reference", "echo"] {
            let ran = folder.run(&["run", "--subject", subject, "--store", store]).assert_exit(2);
            let ran = ran.assert_stderr(&format!("the run could not be stored in {store}: ")).assert_stderr("--no-store");
            assert_eq!(ran.stdout, "");
        }
    }
    folder.run(&["run", "--subject", "reference", "--no-store"]).assert_exit(0);
    assert!(folder.read("broken.sqlite").starts_with("this was never a database"));
    assert_eq!(run_with_store(&folder, "broken.sqlite", 1)["state"], "broken");
}

#[test]
fn arguments_out_of_range_are_refused() {
    for args in [&["--trials", "0"][..], &["--concurrency", "0"], &["--seed", "-1"], &["--tier", "x"], &["--subjekt", "x"]] {
        let ran = TestFolder::new().run(&[&["run", "--subject", "reference"], args].concat()).assert_exit(2);
        assert!(ran.stdout.is_empty() && ran.stderr.starts_with("error: "), "{}", ran.stderr);
    }
}

/// Production traffic has no cases, so there is nothing to run; the message names the commands that judge it.
#[test]
fn tier_5_names_the_commands_of_production_traffic() {
    for args in [&["run", "--tier", "5", "--embedded"][..], &["run", "--tier", "5", "--embedded", "--subject", "reference"]] {
        let ran = TestFolder::new().run(args).assert_exit(3).assert_stderr("tier 5 is production traffic, which has no cases: ");
        let ran = ran.assert_stderr("`bardo-eval collect` receives it").assert_stderr("`bardo-eval watch` judges it; nothing was run");
        assert!(ran.stdout.is_empty(), "{}", ran.stdout);
    }
}

/// On a terminal, progress is one line that is drawn again and removed at the end.
#[cfg(target_os = "linux")]
#[test]
fn progress_is_one_redrawn_line_on_a_terminal() {
    let folder = TestFolder::with_minimal();
    folder.write("slow.sh", "sleep 1.5; while read -r line; do echo '{\"say\":\"hm\"}'; done\n");
    let program = env!("CARGO_BIN_EXE_bardo-eval");
    let command = format!("'{program}' run --subject 'process:bash slow.sh' --case sell_usdc_for_ether --no-store");
    let ran = std::process::Command::new("script")
        .args(["--quiet", "--return", "--command", &command, "/dev/null"])
        .current_dir(folder.path("."))
        .stdin(std::process::Stdio::null())
        .output()
        .expect("the program script of util-linux");
    let shown = String::from_utf8(ran.stdout).unwrap();
    assert_eq!(ran.status.code(), Some(1), "{shown}");
    let drawn: Vec<&str> = shown.split("\r\u{1b}[2K").skip(1).collect();
    assert!(drawn.len() > 3, "redrawn {} times: {shown:?}", drawn.len());
    let (result, lines) = drawn.split_last().unwrap();
    assert!(lines.iter().all(|line| line.starts_with("0 of 1 trial, running for ") && !line.contains('\n')), "{lines:?}");
    assert!(result.contains("FAILED"), "{result}");
}

/// A budget that is too small names the least that starts, and that one starts.
#[test]
fn least_budget_is_named_and_starts() {
    let folder = TestFolder::with_minimal();
    let url = testkit::chat::serve_chat(|_, _| testkit::chat::text_reply("hm"));
    let dear = testkit::chat::subject_file("dear", &url).replace("output_per_mtok: 1,", "output_per_mtok: 200,");
    folder.write("evals/subjects/dear.yaml", dear);
    let run = |budget: &str| folder.run(&["run", "--subject", "dear", "--case", "how_much_usdc", "--budget", budget]);
    let finished = |ran: &ProgramOutput| ran.stdout.contains("trials: 1 planned, ") && ran.stdout.contains(" 0 aborted");
    let refused = run("0.02").assert_exit(3).assert_stderr("1 trial not funded: ");
    let (_, named) = refused.stderr.split_once("the run needs at least --budget ").expect("the least budget");
    let least = named.split_whitespace().next().unwrap();
    assert!(refused.stderr.lines().any(|line| line.ends_with(&format!("--budget {least}"))), "a command to paste: {}", refused.stderr);
    let cents = (least.parse::<f64>().unwrap() * 100.0).round() as u64;
    assert!(cents > 3, "{least}");
    let below = run(&format!("{:.2}", (cents - 1) as f64 / 100.0)).assert_exit(3);
    assert!(below.stderr.contains(&format!("the run needs at least --budget {least} to start")), "{}", below.stderr);
    let resumed = folder.run(&["run", "--resume", "--budget", least]);
    assert!(finished(&resumed), "{resumed:?}");
    let started = run(least);
    assert!(finished(&started), "{started:?}");
}
