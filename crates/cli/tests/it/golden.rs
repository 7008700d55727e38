//! Golden baselines: made from a run, fresh or stale with a reason, compared by meaning, never made by a machine on its own.

use crate::harness::Folder;
use serde_json::{Value, json};
use std::process::Command;
use std::sync::{Arc, Mutex};
use testkit::chat;

fn with_baseline() -> Folder {
    let folder = Folder::with_minimal();
    folder.run(&["golden", "update", "--play", "--subject", "reference"]).exits(0).prints("written from run");
    folder
}

#[test]
fn what_was_just_made_is_fresh_and_unchanged() {
    let folder = with_baseline();
    assert!(folder.files().contains(&"evals/golden/trader/tool_selection.jsonl".to_owned()), "{:?}", folder.files());
    folder.run(&["golden", "status"]).exits(0).prints("4 baselines, 0 stale");
    folder.run(&["golden", "diff"]).exits(0).prints("5 cases compared").prints("0 changed, 0 missing; 0 texts unjudged");
    let first = folder.read("evals/golden/trader/tool_selection.jsonl");
    for key in ["\"model\":\"reference\"", "\"catalogue\":", "\"date\":\"20"] {
        assert!(first.lines().next().unwrap().contains(key), "{key}: {first}");
    }
}

#[test]
fn a_changed_amount_chain_or_payee_is_an_exit_code_and_a_line() {
    for (from, to, line) in [
        ("\"amount\":\"250\"", "\"amount\":\"251\"", "calls swap_get_quote differently: amount is 250, was 251"),
        ("\"chain\":\"base\"", "\"chain\":\"ethereum\"", "chain is base, was ethereum"),
        ("\"token\":\"USDC\"", "\"token\":\"WETH\"", "calls wallet_get_balance differently: token is USDC, was WETH"),
    ] {
        let folder = with_baseline();
        let file = "evals/golden/trader/tool_selection.jsonl";
        folder.write(file, folder.read(file).replacen(from, to, 1));
        folder.run(&["golden", "diff"]).exits(1).prints(line);
        assert_eq!(folder.json(&["golden", "diff"], 1)["changed"].as_array().unwrap().len(), 1);
    }
}

#[test]
fn another_spelling_is_no_change() {
    let folder = with_baseline();
    let file = "evals/golden/trader/tool_selection.jsonl";
    let text = folder.read(file).replace("\"amount\":\"250\"", "\"amount\":\"250.00\"").replace("\"chain\":\"base\"", "\"chain\":8453");
    assert_ne!(text, folder.read(file));
    folder.write(file, text);
    folder.run(&["golden", "diff"]).exits(0).prints("0 changed");
}

#[test]
fn a_description_a_profile_and_an_edge_make_baselines_stale() {
    let folder = with_baseline();
    folder.edit("evals/tools/wallet.yaml", "Balance of one token held by", "What one token amounts to that is held by");
    let ran = folder.run(&["golden", "status"]).exits(1).prints("the description or schema of wallet_get_balance changed");
    ran.prints("golden/trader/tool_selection.jsonl  the description").prints("golden/all/behavior.jsonl  the description");

    let folder = with_baseline();
    folder.edit("evals/profiles/trader.yaml", "[wallet_get_balance, ", "[");
    let ran =
        folder.run(&["golden", "status"]).exits(1).prints("golden/trader/tool_selection.jsonl  the tool wallet_get_balance was removed");
    ran.prints("4 baselines, 1 stale");

    let folder = with_baseline();
    folder.edit("evals/agents/desk.md", "delegates_to: [trader]", "delegates_to: [trader, safety-guardian]");
    let ran = folder.run(&["golden", "status"]).exits(1).prints("golden/all/composition.jsonl  desk may now delegate to safety-guardian");
    ran.prints("4 baselines, 2 stale");
    folder.run(&["golden", "diff", "--play", "--subject", "reference"]).exits(0).prints("desk may now delegate to safety-guardian");
}

#[test]
fn update_refuses_under_ci_and_half_a_run() {
    let folder = Folder::with_minimal();
    folder.run(&["run", "--subject", "reference", "--case", "how_much_usdc"]);
    folder.run(&["golden", "update"]).exits(3).prints("left alone: the run lacks 1 case of it");
    let ran = Command::new(env!("CARGO_BIN_EXE_bardo-eval"))
        .args(["golden", "update"])
        .current_dir(folder.path(""))
        .env_clear()
        .env("CI", "true")
        .output()
        .unwrap();
    assert_eq!(ran.status.code(), Some(2));
    assert!(String::from_utf8(ran.stderr).unwrap().contains("not updated under CI"));
    assert!(!folder.files().iter().any(|file| file.contains("golden/")), "{:?}", folder.files());
}

#[test]
fn nothing_to_compare_is_never_clean() {
    let folder = Folder::with_minimal();
    folder.run(&["golden", "status"]).exits(3).prints("there is no baseline");
    folder.run(&["golden", "diff"]).exits(2).says("the workspace has no baseline");
    folder.write("evals/golden/trader/tool_selection.jsonl", "{\"format\": 99}\n");
    folder.run(&["golden", "status"]).exits(2).says("golden/trader/tool_selection.jsonl:1");
}

const BEFORE: &str = "The sale went through.";
const AFTER: &str = r#"{"status": "success"}"#;

/// The baseline says the same things in other words than the run that is kept.
fn reworded(judge: &str) -> Folder {
    let folder = Folder::with_minimal();
    folder.write("evals/subjects/judge.yaml", chat::subject_file("judge", judge));
    folder.run(&["golden", "update", "--play", "--subject", "reference"]).exits(0);
    let (file, after) = ("evals/golden/all/behavior.jsonl", json!(AFTER).to_string());
    folder.edit(file, &after, &json!(BEFORE).to_string());
    folder
}

fn verdict(verdict: &str, score: u64, reason: &str) -> Value {
    chat::tool_call(1, "verdict", &json!({ "verdict": verdict, "score": score, "reason": reason }))
}

#[test]
fn without_a_judge_texts_in_other_words_are_counted() {
    let folder = reworded("http://127.0.0.1:9");
    let ran = folder.run(&["golden", "diff"]).exits(0).prints("0 changed, 0 missing; 1 text unjudged");
    assert!(!ran.stdout.contains("texts in other words"), "{}", ran.stdout);
}

#[test]
fn a_judge_says_whether_texts_say_the_same() {
    let prompts = Arc::new(Mutex::new(vec![]));
    let heard = prompts.clone();
    let lenient = chat::serve(move |request, _| {
        heard.lock().unwrap().push(request.to_string());
        verdict("pass", 5, "Both say that it worked.")
    });
    let folder = reworded(&lenient);
    let ran = folder.run(&["golden", "diff", "--judge", "judge", "--budget", "1"]).exits(0);
    let ran = ran.prints("texts in other words: 1 say the same, 0 something else; asked for 0.00").prints("0 texts unjudged");
    ran.prints("judge judge: nobody has measured how far it can be trusted");
    let sent = prompts.lock().unwrap();
    assert_eq!(sent.len(), 1);
    for part in [BEFORE, "success", "=== material ", "\"tool_choice\"", "\"verdict\""] {
        assert!(sent[0].contains(part), "{part} is missing in {}", sent[0]);
    }
}

#[test]
fn a_text_that_says_something_else_is_a_change_with_the_judges_reason() {
    let folder = reworded(&chat::serve(|_, _| verdict("fail", 1, "The second claims\u{1b}[31m more.")));
    let ran = folder.run(&["golden", "diff", "--judge", "judge"]).exits(1);
    let line = format!("sell_usdc_for_ether  says something else: \"{AFTER}\", said \"{BEFORE}\"  the judge: The second claims");
    let ran = ran.prints(&line).prints("1 changed, 0 missing; 0 texts unjudged");
    assert!(!ran.stdout.contains('\u{1b}'), "{:?}", ran.stdout);
    let document = folder.json(&["golden", "diff", "--judge", "judge"], 1);
    assert_eq!((&document["texts_different"], &document["texts_unjudged"]), (&json!(1), &json!(0)));
    assert_eq!(document["judge"]["name"], "judge");
}

#[test]
fn what_is_no_verdict_is_never_taken_for_the_same() {
    let said = json!({ "verdict": "pass", "score": 5, "reason": "Fine." }).to_string();
    for (answer, why) in [
        (chat::text(&said), "the judge called nothing"),
        (verdict("pass", 2, "Hm."), "the judge's verdict is pass, its score 2"),
        (verdict("same", 5, "Fine."), "the judge gave no single verdict"),
        (verdict("pass", 5, " "), "the judge gave no reason"),
    ] {
        let folder = reworded(&chat::serve(move |_, _| answer.clone()));
        let ran = folder.run(&["golden", "diff", "--judge", "judge"]).exits(3);
        let ran = ran.prints(&format!("sell_usdc_for_ether  a text was not judged: {why}"));
        ran.prints("0 say the same, 0 something else").prints("0 changed, 0 missing; 1 text unjudged");
    }
    // No money, no judge, and nobody who could be one.
    let folder = reworded(&chat::serve(|_, _| verdict("pass", 5, "Fine.")));
    folder.run(&["golden", "diff", "--judge", "judge", "--budget", "0"]).exits(3).prints("a text was not judged").prints("1 text unjudged");
    folder.run(&["golden", "diff", "--judge", "nobody"]).exits(2).says("there is no subject \"nobody\"");
    folder.run(&["golden", "diff", "--judge", "echo"]).exits(2).says("echo cannot judge");
    folder.run(&["golden", "diff", "--budget", "1"]).exits(2).says("--judge");
}
