//! Golden baselines: made from a run, fresh or stale with a reason, compared by meaning, never made by a machine on its own.

use crate::harness::Folder;
use std::process::Command;

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
