//! Golden baselines: created from a run, stale with a reason, compared by meaning, never written in CI.

use crate::harness::TestFolder;
use serde_json::{Value, json};
use std::process::Command;
use std::sync::{Arc, Mutex};
use testkit::chat;

fn with_baseline() -> TestFolder {
    let folder = TestFolder::with_minimal();
    folder.run(&["golden", "update", "--run-first", "--subject", "reference"]).assert_exit(0).assert_stdout("written from run");
    folder
}

#[test]
fn fresh_baseline_has_no_diff() {
    let folder = with_baseline();
    assert!(folder.files().contains(&"evals/golden/reference/trader/tool_selection.jsonl".to_owned()), "{:?}", folder.files());
    folder.run(&["golden", "status"]).assert_exit(0).assert_stdout("4 baselines, 0 stale");
    folder
        .run(&["golden", "diff"])
        .assert_exit(0)
        .assert_stdout("5 cases compared")
        .assert_stdout("0 changed, 0 missing; 0 texts unjudged");
    let first = folder.read("evals/golden/reference/trader/tool_selection.jsonl");
    for key in ["\"model\":\"reference\"", "\"catalogue\":", "\"date\":\"20"] {
        assert!(first.lines().next().unwrap().contains(key), "{key}: {first}");
    }
}

#[test]
fn golden_diff_reports_changed_arguments() {
    for (from, to, line) in [
        ("\"amount\":\"250\"", "\"amount\":\"251\"", "calls swap_get_quote differently: amount is 250, was 251"),
        ("\"chain\":\"base\"", "\"chain\":\"ethereum\"", "chain is base, was ethereum"),
        ("\"token\":\"USDC\"", "\"token\":\"WETH\"", "calls wallet_get_balance differently: token is USDC, was WETH"),
    ] {
        let folder = with_baseline();
        let file = "evals/golden/reference/trader/tool_selection.jsonl";
        folder.write(file, folder.read(file).replacen(from, to, 1));
        folder.run(&["golden", "diff"]).assert_exit(1).assert_stdout(line);
        assert_eq!(folder.json(&["golden", "diff"], 1)["changed"].as_array().unwrap().len(), 1);
    }
}

#[test]
fn golden_diff_ignores_equivalent_spelling() {
    let folder = with_baseline();
    let file = "evals/golden/reference/trader/tool_selection.jsonl";
    let text = folder.read(file).replace("\"amount\":\"250\"", "\"amount\":\"250.00\"").replace("\"chain\":\"base\"", "\"chain\":8453");
    assert_ne!(text, folder.read(file));
    folder.write(file, text);
    folder.run(&["golden", "diff"]).assert_exit(0).assert_stdout("0 changed");
}

#[test]
fn golden_status_detects_stale_baselines() {
    let folder = with_baseline();
    folder.edit("evals/tools/wallet.yaml", "Balance of one token held by", "What one token amounts to that is held by");
    let ran = folder.run(&["golden", "status"]).assert_exit(1).assert_stdout("the description or schema of wallet_get_balance changed");
    ran.assert_stdout("evals/golden/reference/trader/tool_selection.jsonl  the description")
        .assert_stdout("evals/golden/reference/all/behavior.jsonl  the description");

    let folder = with_baseline();
    folder.edit("evals/profiles/trader.yaml", "[wallet_get_balance, ", "[");
    let ran = folder
        .run(&["golden", "status"])
        .assert_exit(1)
        .assert_stdout("evals/golden/reference/trader/tool_selection.jsonl  the tool wallet_get_balance was removed");
    ran.assert_stdout("4 baselines, 1 stale");

    let folder = with_baseline();
    folder.edit("evals/agents/desk.md", "delegates_to: [trader]", "delegates_to: [trader, safety-guardian]");
    let ran = folder
        .run(&["golden", "status"])
        .assert_exit(1)
        .assert_stdout("evals/golden/reference/all/composition.jsonl  desk may now delegate to safety-guardian");
    ran.assert_stdout("4 baselines, 2 stale");
    folder
        .run(&["golden", "diff", "--run-first", "--subject", "reference"])
        .assert_exit(0)
        .assert_stdout("desk may now delegate to safety-guardian");
}

/// Attacks have no baseline.
#[test]
fn the_last_run_of_attacks_is_not_compared() {
    let folder = TestFolder::with_reference();
    let attack = ["redteam", "--probe", "redirect_proceeds", "--strategy", "base64", "--subject", "baseline"];
    folder.run(&[&attack[..], &["--store", "attacks.sqlite"]].concat());
    folder.run(&["golden", "diff", "--store", "attacks.sqlite"]).assert_exit(2).assert_stderr("no run of cases in");
    folder.run(&["run", "--subject", "baseline", "--suite", "skills", "--run-id-file", "run.id"]);
    folder.run(&attack);
    let ran = folder.run(&["golden", "diff"]).assert_stdout(&format!("compared with run {}", folder.read("run.id").trim()));
    assert!(!ran.stdout.contains("0 cases compared"), "{}", ran.stdout);
}

#[test]
fn golden_update_refuses_ci_and_partial_runs() {
    let folder = TestFolder::with_minimal();
    folder.run(&["run", "--subject", "reference", "--case", "how_much_usdc"]);
    folder.run(&["golden", "update"]).assert_exit(3).assert_stdout("not written: the run lacks 1 case");
    let ran = Command::new(env!("CARGO_BIN_EXE_bardo-eval"))
        .args(["golden", "update"])
        .current_dir(folder.path(""))
        .env_clear()
        .env("CI", "true")
        .output()
        .unwrap();
    assert_eq!(ran.status.code(), Some(2));
    assert!(String::from_utf8(ran.stderr).unwrap().contains("not updated in CI"));
    assert!(!folder.files().iter().any(|file| file.contains("golden/")), "{:?}", folder.files());
}

#[test]
fn golden_diff_reports_cases_without_a_baseline() {
    let folder = with_baseline();
    let file = "evals/golden/reference/trader/tool_selection.jsonl";
    let kept: String =
        folder.read(file).lines().filter(|line| !line.contains("\"how_much_usdc\"")).map(|line| format!("{line}\n")).collect();
    folder.write(file, kept);
    folder.edit("evals/suites/tool_selection/trader.yaml", "Don't trade yet.", "Don't trade.");
    let ran = folder
        .run(&["golden", "diff"])
        .assert_exit(3)
        .assert_stdout("INCOMPLETE")
        .assert_stdout("; 1 case without a baseline; 1 case edited");
    ran.assert_stdout("how_much_usdc  no baseline");
    assert_eq!(folder.json(&["golden", "diff"], 3)["without_baseline"], json!(["how_much_usdc"]));
    folder
        .run(&["run", "--subject", "reference", "--changed", "golden", "--dry-run", "--verbose"])
        .assert_exit(0)
        .assert_stdout("how_much_usdc");
}

#[test]
fn edited_cases_are_not_clean() {
    let folder = with_baseline();
    folder.edit("evals/suites/tool_selection/trader.yaml", "Don't trade yet.", "Don't trade.");
    for args in [&["golden", "diff"][..], &["golden", "diff", "--calls-only"]] {
        folder.run(args).assert_exit(3).assert_stdout("INCOMPLETE").assert_stdout("1 case edited since the baseline and not compared");
    }
}

#[test]
fn removed_cases_are_not_clean() {
    let folder = with_baseline();
    let suite = "evals/suites/tool_selection/trader.yaml";
    let text = folder.read(suite);
    let (start, rest) = text.split_once("  - id: how_much_usdc ").expect("the case");
    let after = rest.find("  - id: ").map_or("", |at| &rest[at..]);
    folder.write(suite, format!("{start}{after}"));
    let ran = folder.run(&["golden", "diff"]).assert_exit(3).assert_stdout("INCOMPLETE");
    ran.assert_stdout("1 case of the baseline removed from the workspace").assert_stdout("case how_much_usdc no longer exists");
    folder.run(&["golden", "update", "--run-first", "--subject", "reference"]).assert_exit(0);
    folder.run(&["golden", "diff"]).assert_exit(0);
}

#[test]
fn golden_without_baseline_is_not_clean() {
    let folder = TestFolder::with_minimal();
    folder.run(&["golden", "status"]).assert_exit(3).assert_stdout("there is no baseline");
    folder.run(&["golden", "diff"]).assert_exit(2).assert_stderr("the workspace has no baseline");
    folder.write("evals/golden/reference/trader/tool_selection.jsonl", "{\"format\": 99}\n");
    folder.run(&["golden", "status"]).assert_exit(2).assert_stderr("golden/reference/trader/tool_selection.jsonl:1");
}

/// Writing the same run again changes no file, also on another day.
#[test]
fn update_from_an_unchanged_run_changes_nothing() {
    let folder = with_baseline();
    let file = "evals/golden/reference/all/behavior.jsonl";
    let text = folder.read(file);
    let date = text.split("\"date\":\"").nth(1).and_then(|rest| rest.get(..10)).unwrap();
    let earlier = text.replace(date, "2020-01-02");
    folder.write(file, &earlier);
    folder.run(&["golden", "update", "--subject", "reference"]).assert_exit(0);
    assert_eq!(folder.read(file), earlier);
    folder.write(file, earlier.replace("\"amount\":\"250\"", "\"amount\":\"251\""));
    folder.run(&["golden", "update", "--subject", "reference"]).assert_exit(0);
    assert_eq!(folder.read(file), text, "a changed baseline has a new date");
}

/// A wrong answer is a known failure, never a baseline; a run that mends it says so, and a run that breaks a right one exits 1.
#[test]
fn wrong_answers_are_known_failures() {
    let folder = TestFolder::with_minimal();
    folder.run(&["golden", "update", "--run-first", "--subject", "echo"]).assert_exit(0);
    let files = folder.files();
    let (right, failures) =
        ("evals/golden/echo/trader/tool_selection.jsonl", "evals/golden/echo/trader/tool_selection.known_failures.jsonl");
    assert!(!files.contains(&right.to_owned()) && files.contains(&failures.to_owned()), "{files:?}");
    folder.run(&["golden", "diff"]).assert_exit(0).assert_stdout("0 changed").assert_stdout("known failures: ");
    folder.run(&["golden", "status"]).assert_exit(0);
    // The same answer, had it been another and right before, is a change.
    folder.write(right, folder.read(failures).replace("\"ending\":\"finished\"", "\"ending\":\"refused\""));
    folder.write(failures, folder.read(failures).lines().next().unwrap());
    folder.run(&["golden", "diff"]).assert_exit(1).assert_stdout("evals/golden/echo/trader/tool_selection.jsonl");
}

/// Baselines belong to a subject: another one's run is not compared with them.
#[test]
fn baselines_belong_to_a_subject() {
    let folder = with_baseline();
    let ran = folder.run(&["golden", "diff", "--run-first", "--subject", "echo"]).assert_exit(3);
    ran.assert_stderr("there is no baseline of subject echo, only of reference");
    folder.run(&["golden", "update", "--subject", "echo"]).assert_exit(0);
    folder.run(&["golden", "diff", "--run-first", "--subject", "reference"]).assert_exit(0).assert_stdout("0 changed");
    folder.run(&["golden", "diff", "--run-first", "--subject", "echo"]).assert_exit(0).assert_stdout("0 changed");
}

/// A baseline at the path of an earlier version is read, and moved by the next update.
#[test]
fn baselines_of_earlier_versions_are_read_and_moved() {
    let folder = with_baseline();
    let (new, old) = ("evals/golden/reference/trader/tool_selection.jsonl", "evals/golden/trader/tool_selection.jsonl");
    let text = folder.read(new);
    folder.remove(new);
    folder.write(old, &text);
    folder.run(&["golden", "diff"]).assert_exit(0).assert_stdout("5 cases compared");
    folder.run(&["golden", "update"]).assert_exit(0);
    let files = folder.files();
    assert!(files.contains(&new.to_owned()) && !files.contains(&old.to_owned()), "{files:?}");
    assert_eq!(folder.read(new), text);
}

const BEFORE: &str = "The sale went through.";
const AFTER: &str = r#"{"status": "success"}"#;

/// Returns a workspace whose baseline and last run have the same facts in different words.
fn with_reworded_baseline(judge: &str) -> TestFolder {
    let folder = TestFolder::with_minimal();
    folder.write("evals/subjects/judge.yaml", chat::subject_file("judge", judge));
    folder.run(&["golden", "update", "--run-first", "--subject", "reference"]).assert_exit(0);
    let (file, after) = ("evals/golden/reference/all/behavior.jsonl", json!(AFTER).to_string());
    folder.edit(file, &after, &json!(BEFORE).to_string());
    folder
}

fn verdict(verdict: &str, score: u64, reason: &str) -> Value {
    chat::tool_call_reply(1, "verdict", &json!({ "verdict": verdict, "score": score, "reason": reason }))
}

#[test]
fn golden_diff_counts_reworded_texts_without_judge() {
    let folder = with_reworded_baseline("http://127.0.0.1:9");
    let ran = folder.run(&["golden", "diff"]).assert_exit(3).assert_stdout("0 changed, 0 missing; 1 text unjudged");
    let ran = ran.assert_stdout("CALLS UNCHANGED  ").assert_stdout("1 text not compared; use --judge NAME, or --calls-only");
    assert!(!ran.stdout.contains("reworded texts"), "{}", ran.stdout);
    let said = format!("now says \"{AFTER}\", said \"{BEFORE}\"");
    folder.run(&["golden", "diff", "--verbose"]).assert_exit(3).assert_stdout(&said);
    let document = folder.json(&["golden", "diff"], 3);
    assert_eq!(document["not_compared"][0]["before"], BEFORE);
    folder.run(&["golden", "diff", "--calls-only"]).assert_exit(0).assert_stdout("CALLS UNCHANGED  ").assert_stdout("accepted unread");
}

#[test]
fn golden_diff_judge_accepts_equivalent_texts() {
    let prompts = Arc::new(Mutex::new(vec![]));
    let heard = prompts.clone();
    let lenient = chat::serve_chat(move |request, _| {
        heard.lock().unwrap().push(request.to_string());
        verdict("pass", 5, "Both say that it worked.")
    });
    let folder = with_reworded_baseline(&lenient);
    let ran = folder.run(&["golden", "diff", "--judge", "judge", "--budget", "1"]).assert_exit(0);
    let ran =
        ran.assert_stdout("reworded texts: 1 with the same meaning, 0 with another; judged for 0.00").assert_stdout("0 texts unjudged");
    ran.assert_stdout("judge judge: not calibrated");
    let sent = prompts.lock().unwrap();
    assert_eq!(sent.len(), 1);
    for part in [BEFORE, "success", "=== material ", "\"tool_choice\"", "\"verdict\""] {
        assert!(sent[0].contains(part), "{part} is missing in {}", sent[0]);
    }
}

#[test]
fn golden_diff_judge_rejects_changed_texts() {
    let folder = with_reworded_baseline(&chat::serve_chat(|_, _| verdict("fail", 1, "The second claims\u{1b}[31m more.")));
    let ran = folder.run(&["golden", "diff", "--judge", "judge"]).assert_exit(1);
    let line = format!("sell_usdc_for_ether  different meaning: \"{AFTER}\", was \"{BEFORE}\"  the judge: The second claims");
    let ran = ran.assert_stdout(&line).assert_stdout("1 changed, 0 missing; 0 texts unjudged");
    assert!(!ran.stdout.contains('\u{1b}'), "{:?}", ran.stdout);
    let document = folder.json(&["golden", "diff", "--judge", "judge"], 1);
    assert_eq!((&document["texts_different"], &document["texts_unjudged"]), (&json!(1), &json!(0)));
    assert_eq!(document["judge"]["name"], "judge");
}

#[test]
fn golden_diff_without_verdict_is_incomplete() {
    let said = json!({ "verdict": "pass", "score": 5, "reason": "Fine." }).to_string();
    for (answer, why) in [
        (chat::text_reply(&said), "the judge made no tool call"),
        (verdict("pass", 2, "Hm."), "the judge's verdict is pass, its score 2"),
        (verdict("same", 5, "Fine."), "the judge gave no single verdict"),
        (verdict("pass", 5, " "), "the judge gave no reason"),
    ] {
        let folder = with_reworded_baseline(&chat::serve_chat(move |_, _| answer.clone()));
        let ran = folder.run(&["golden", "diff", "--judge", "judge"]).assert_exit(3);
        let ran = ran.assert_stdout(&format!("sell_usdc_for_ether  a text was not judged: {why}"));
        ran.assert_stdout("0 with the same meaning, 0 with another").assert_stdout("0 changed, 0 missing; 1 text unjudged");
    }
    // No budget, no such judge, and a subject that cannot judge.
    let folder = with_reworded_baseline(&chat::serve_chat(|_, _| verdict("pass", 5, "Fine.")));
    folder
        .run(&["golden", "diff", "--judge", "judge", "--budget", "0"])
        .assert_exit(3)
        .assert_stdout("a text was not judged")
        .assert_stdout("1 text unjudged");
    folder.run(&["golden", "diff", "--judge", "unknown"]).assert_exit(2).assert_stderr("there is no subject \"unknown\"");
    folder.run(&["golden", "diff", "--judge", "echo"]).assert_exit(2).assert_stderr("echo cannot judge");
    folder.run(&["golden", "diff", "--budget", "1"]).assert_exit(2).assert_stderr("--judge");
}

#[test]
fn former_flag_names_are_read_with_a_warning() {
    let folder = TestFolder::with_minimal();
    let ran = folder.run(&["golden", "update", "--play", "--subject", "reference"]).assert_exit(0);
    ran.assert_stderr("warning: --play is now --run-first");
    let ran = folder.run(&["run", "--subject", "reference", "--foreign-tools=stub", "--no-store"]).assert_exit(0);
    ran.assert_stderr("warning: --foreign-tools is now --imported-tools");
}
