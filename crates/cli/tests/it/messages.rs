//! Messages for mistakes of users: near names, lists of known names, and hints.

use crate::harness::TestFolder;
use serde_json::json;

#[test]
fn run_hints_at_the_cases_of_a_tool() {
    let ran = TestFolder::with_minimal().run(&["run", "--tool", "swap_execute"]).assert_exit(2);
    drop(ran.assert_stderr("unexpected argument '--tool'").assert_stderr("hint: `bardo-eval list cases --tool NAME`"));
}

#[test]
fn unknown_names_are_answered_with_known_ones() {
    let folder = TestFolder::with_minimal();
    let dry = |args: &[&str]| folder.run(&[&["run", "--dry-run"], args].concat()).assert_exit(2);
    dry(&["--subject", "absent"]).assert_stderr("known: baseline, echo, reference");
    dry(&["--suite", "foo"]).assert_stderr("there is no suite \"foo\"; known: ");
    dry(&["--tag", "nope"]).assert_stderr("there is no tag \"nope\"; ");
    dry(&["--case", "usdc_for"]).assert_stderr("did you mean \"sell_usdc_for_ether\"?");
    folder.run(&["ci", "plan", "--event", "push"]).assert_exit(2).assert_stderr("known: ");
    let embedded = TestFolder::new();
    embedded.run(&["run", "--case", "zzzzzz"]).assert_exit(2).assert_stderr("`bardo-eval list cases` lists all ");
    embedded.run(&["explain", "hitrate"]).assert_exit(2).assert_stderr("did you mean \"hit_rate");
}

#[test]
fn explain_knows_the_tools_of_the_workspace() {
    let folder = TestFolder::with_minimal();
    folder
        .run(&["explain", "swap_execute"])
        .assert_exit(0)
        .assert_stdout("swap_execute  a tool")
        .assert_stdout("capability  write")
        .assert_stdout("trader");
    assert_eq!(folder.json(&["explain", "swap_execute"], 0)["kind"], "tool");
    folder.run(&["explain", "swap_exec"]).assert_exit(2).assert_stderr("did you mean \"swap_execute\"?");
}

#[test]
fn cases_and_tags_are_listed_with_filters() {
    let folder = TestFolder::with_minimal();
    let all = folder.list("cases").len();
    let some = folder.json(&["list", "cases", "--tool", "swap_execute"], 0)["items"].as_array().unwrap().len();
    assert!(some > 0 && some < all, "{some} of {all}");
    let tags = folder.list("tags");
    assert!(!tags.is_empty() && tags.iter().all(|row| row["tag"].is_string() && row["cases"] != "0"), "{tags:#?}");
    folder.run(&["list", "cases", "--tool", "swap_exec"]).assert_exit(2).assert_stderr("did you mean \"swap_execute\"?");
    folder.run(&["list", "cases", "--agent", "zzz"]).assert_exit(2).assert_stderr("there is no agent \"zzz\"; known: ");
    let embedded = TestFolder::new();
    let lines = embedded.run(&["list", "cases"]).assert_exit(0).stdout;
    assert!(lines.lines().all(|line| line.chars().count() < 300), "an opening is not cut");
}

#[test]
fn workspace_in_the_current_folder_is_used() {
    let folder = TestFolder::new();
    folder.run(&["init", ".", "--minimal"]).assert_exit(0);
    folder.run(&["run", "--subject", "reference", "--no-store"]).assert_exit(0).assert_stdout("workspace .,");
    assert_eq!(folder.list("subjects").len(), 3);
    folder.write("tools/bad.yaml", "category: 3\n");
    let ran = folder.run(&["smoke"]).assert_exit(2).assert_stderr("tools/bad.yaml:");
    assert!(!ran.stderr.contains("./tools"), "{}", ran.stderr);
}

#[test]
fn folder_without_a_workspace_is_one_line() {
    let folder = TestFolder::new();
    folder.write("pictures/a.png", [0, 1, 2]);
    folder.write("pictures/deep/b.txt", "x");
    let ran = folder
        .run(&["run", "-w", "pictures"])
        .assert_exit(2)
        .assert_stderr("pictures  not a workspace: it has neither gates.yaml nor tools/; name the folder");
    assert_eq!(ran.stderr.lines().count(), 2, "{}", ran.stderr);
}

#[test]
fn word_without_a_flag_gets_a_hint() {
    let folder = TestFolder::new();
    folder.run(&["init", "small", "--minimal"]).assert_exit(0);
    folder.run(&["run", "small"]).assert_exit(2).assert_stderr("hint: use --workspace small");
    folder.run(&["run", "sell usdc"]).assert_exit(2).assert_stderr("hint: use --case 'sell usdc'");
    folder.run(&["--help"]).assert_exit(0);
    folder.run(&["--version"]).assert_exit(0);
}

#[test]
fn defaults_are_read_from_the_current_folder() {
    let folder = TestFolder::with_minimal();
    folder.write("bardo-eval.yaml", "subject: echo\n");
    let subjects = |folder: &TestFolder| folder.json(&["run", "--dry-run"], 0)["trials"][0]["subject"].clone();
    assert_eq!(subjects(&folder), "echo");
    folder.write("evals/bardo-eval.yaml", "subject: reference\n");
    assert_eq!(subjects(&folder), "reference", "the workspace comes first");
    folder.remove("evals/bardo-eval.yaml");
    folder.write("bardo-eval.yaml", "speed: 1\n");
    let ran = folder.run(&["run"]).assert_exit(2).assert_stderr("bardo-eval.yaml:1");
    assert!(!ran.stderr.contains("evals/bardo-eval.yaml"), "{}", ran.stderr);
}

#[test]
fn cost_since_takes_days_only() {
    let folder = TestFolder::with_minimal();
    folder.run(&["run", "--subject", "reference"]).assert_exit(0);
    for since in ["today", "yesterday", "2026-01-01", "2026-01-01T12:00:00Z"] {
        folder.run(&["cost", "--since", since]).assert_exit(0).assert_stdout("in 1 run");
    }
    folder.run(&["cost", "--since", "9999-01-01"]).assert_exit(0).assert_stdout("in 0 runs");
    folder.run(&["cost", "--since", "last week"]).assert_exit(2).assert_stderr("not a day");
}

#[test]
fn world_call_names_an_unknown_parameter() {
    let folder = TestFolder::with_minimal();
    folder.run(&["world", "call", "swap_get_quote", "tokenin=WETH"]).assert_exit(2).assert_stderr("has no parameter \"tokenin\"");
}

#[test]
fn show_names_the_run_that_has_the_case() {
    let folder = TestFolder::with_minimal();
    folder.run(&["run", "--subject", "reference", "--case", "how_much_usdc"]).assert_exit(0);
    folder.run(&["run", "--subject", "reference", "--case", "price_before_trading"]).assert_exit(0);
    let ran = folder.run(&["show", "how_much_usdc"]).assert_exit(2).assert_stderr("has it: add --run ");
    let run = ran.stderr.split("--run ").nth(1).unwrap().split_whitespace().next().unwrap().to_owned();
    folder.run(&["show", "how_much_usdc", "--run", &run]).assert_exit(0);
    folder.run(&["show", "price_befor_trading"]).assert_exit(2).assert_stderr("did you mean \"price_before_trading\"?");
}

#[test]
fn runs_with_equal_records_are_told_apart() {
    let folder = TestFolder::with_minimal();
    for _ in 0..2 {
        folder.run(&["run", "--subject", "reference", "--case", "how_much_usdc"]).assert_exit(0);
    }
    let listed = folder.json(&["runs", "list"], 0)["items"].clone();
    assert_eq!(listed[0]["record"], listed[1]["record"]);
    let ids = [0, 1].map(|n| listed[n]["run"].as_str().unwrap()[..12].to_owned());
    let text = folder.run(&["runs", "list"]).stdout;
    assert!(ids[0] != ids[1] && ids.iter().all(|id| text.contains(id.as_str())), "{text}");
    let record = &listed[0]["record"].as_str().unwrap()[..12];
    folder.run(&["runs", "rm", record]).assert_exit(2).assert_stderr(&format!("name one of {}, {}", ids[0], ids[1]));
    folder.run(&["runs", "rm", &ids[1]]).assert_exit(0).assert_stdout(&ids[1]);
    assert_eq!(folder.json(&["runs", "list"], 0)["items"][0]["run"].as_str().unwrap()[..12], ids[0]);
    folder.run(&["runs", "show"]).assert_exit(0).assert_stdout("subjects reference").assert_stdout("cases how_much_usdc");
}

#[test]
fn stored_runs_ignore_themselves_in_git() {
    let folder = TestFolder::with_minimal();
    folder.run(&["run", "--subject", "reference", "--case", "how_much_usdc"]).assert_exit(0);
    assert_eq!(folder.read(".bardo-eval/.gitignore"), "*\n");
    folder.run(&["init", "fresh", "--minimal"]).assert_exit(0);
    assert!(folder.read("fresh/.gitignore").contains(".bardo-eval/"));
}

/// Every trial lacks its recording, so none is evidence.
#[test]
fn run_without_evidence_is_not_complete() {
    let folder = TestFolder::with_minimal();
    folder.write("evals/subjects/model.yaml", testkit::chat::subject_file("model", "http://127.0.0.1:9/v1"));
    folder.run(&["run", "--subject", "model", "--replay", "--case", "how_much_usdc"]).assert_exit(3);
    let listed = folder.json(&["runs", "list"], 0)["items"][0].clone();
    assert_eq!((&listed["state"], &listed["trials"]["aborted"]), (&json!("aborted"), &json!(1)), "{listed:#}");
}

#[test]
fn doctor_has_one_line_per_subject_and_the_next_command() {
    let folder = TestFolder::new();
    let text = folder.run_with_variable(&["doctor"], "ANTHROPIC_API_KEY", "sk-test-key-of-a-test").assert_exit(0).stdout;
    assert_eq!(text.lines().filter(|line| line.contains("claude-sonnet")).count(), 1, "{text}");
    assert!(text.contains("ANTHROPIC_API_KEY is set") && !text.contains("sk-test"), "{text}");
    assert!(text.contains("next: bardo-eval run --embedded\n") && text.contains("next: bardo-eval run --subject claude-"), "{text}");
    assert!(text.contains("keyless core") && text.lines().count() < 20, "{text}");
    folder.run(&["doctor"]).assert_exit(0).assert_stdout("set ANTHROPIC_API_KEY").assert_stdout("next: ANTHROPIC_API_KEY=… bardo-eval run");
}
