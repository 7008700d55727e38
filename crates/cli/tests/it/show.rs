//! `show`: stored trials as text and JSON.

use crate::harness::TestFolder;
use serde_json::{Value, json};

const CASE: &str = "sell_ether_for_usdc";

/// Returns a folder with a run of echo and a later run of the reference, both of one case.
fn two_runs() -> (TestFolder, String, String) {
    let folder = TestFolder::new();
    let run = |subject: &str, code| {
        let document = folder.json(&["run", "--case", CASE, "--subject", subject], code);
        document["run"].as_str().unwrap().to_owned()
    };
    let echo = run("echo", 1);
    // The rubric is not judged here: outside of a tier the report says so, and all other gates are met.
    let reference = run("reference", 0);
    (folder, echo, reference)
}

#[test]
fn show_prints_events_of_the_last_run() {
    let (folder, _, reference) = two_runs();
    let ran = folder.run(&["show", CASE]).assert_exit(0);
    assert!(ran.stderr.lines().all(|line| line.starts_with("note: there is no workspace here")), "{}", ran.stderr);
    let ran = ran.assert_stdout(&format!("run {reference}\n")).assert_stdout("subject reference, seed 1");
    let ran =
        ran.assert_stdout("calls uniswap_get_quote ").assert_stdout("is prepared for uniswap_execute_swap on base: 0.2 ETH for at least ");
    let ran =
        ran.assert_stdout("simulation of ").assert_stdout("delegates to safety-guardian ").assert_stdout("  safety-guardian  approves ");
    // Effects are in tokens, not in base units.
    let ran = ran.assert_stdout("mined on base: ").assert_stdout("ETH (−0.2)").assert_stdout("balance of account: ");
    // Scores are printed beside their evidence and in a table, followed by the delegation tree.
    let ran = ran.assert_stdout("\nthe trial finished\n").assert_stdout("safety_pipeline").assert_stdout("\n└─ safety-guardian  #");
    assert!(!ran.stdout.contains('\u{1b}'));
    assert!(folder.run(&["show", CASE, "--color", "always"]).assert_exit(0).stdout.contains('\u{1b}'));
}

#[test]
fn show_finds_trial_by_id_prefix() {
    let (folder, echo, reference) = two_runs();
    let of = |run: &str| folder.json(&["show", CASE, "--run", run], 0);
    let (one, other) = (of(&echo), of(&reference[..6]));
    assert_eq!((&one["subject"], &other["subject"]), (&json!("echo"), &json!("reference")));
    let trial = one["trial"].as_str().unwrap();
    assert_eq!(folder.json(&["show", &trial[..12], "--run", &echo], 0), one);
    for (args, why) in [
        (vec!["show", "sell_ether_for_usd"], "did you mean \"sell_ether_for_usdc\"?"),
        (vec!["show", CASE, "--run", "ffffffffffff"], "there is no run \"ffffffffffff\"; the last ones are "),
        (vec!["show", CASE, "--store", "none.sqlite"], "no runs in none.sqlite"),
        (vec!["show"], "<CASE|TRIAL>"),
    ] {
        let ran = folder.run(&args).assert_exit(2).assert_stderr(why);
        assert!(ran.stdout.is_empty(), "{}", ran.stdout);
    }
    assert!(!folder.files().contains(&"none.sqlite".to_owned()), "reading creates no store");
}

#[test]
fn show_json_has_events_scores_and_tree() {
    let (folder, ..) = two_runs();
    let document = folder.json(&["show", CASE], 0);
    let events = document["events"].as_array().unwrap();
    assert_eq!(events[0]["n"], 1);
    assert!(events.iter().all(|event| event["line"] != "" && event["happened"].is_object()), "{document:#}");
    let scores: Vec<&Value> = events.iter().flat_map(|event| event["scores"].as_array().unwrap()).collect();
    let cited: usize = document["scores"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|score| score["because"].as_array().unwrap())
        .filter(|because| !because["event"].is_null())
        .count();
    assert_eq!(scores.len(), cited, "each reason with an event is printed beside it once");
    assert_eq!(document["tree"]["agent"], "trade-executor");
    assert_eq!(document["tree"]["delegated"][0]["agent"], "safety-guardian");
    assert_eq!(document["tree"]["delegated"][0]["decided"], "approve");
}

#[test]
fn show_lists_further_trials_of_the_case() {
    let folder = TestFolder::new();
    folder.run(&["run", "--subject", "reference", "--case", "done_with_link", "--trials", "3"]).assert_exit(0);
    let text = folder.run(&["show", "done_with_link"]).assert_exit(0).assert_stdout("\nfurther trials of this case: ").stdout;
    let others: Vec<&str> = text.lines().last().unwrap().rsplit(": ").next().unwrap().split(", ").collect();
    assert_eq!(others.len(), 2, "{text}");
    folder.run(&["show", others[1]]).assert_exit(0).assert_stdout(&format!("trial {}, ", others[1])).assert_stdout("seed 3");
}

#[test]
fn show_diff_compares_a_case_in_two_runs() {
    let (folder, echo, reference) = two_runs();
    let ran = folder.run(&["show", CASE, "--diff", &echo, &reference]).assert_exit(0);
    let ran = ran
        .assert_stdout("\n  + #")
        .assert_stdout("uniswap_execute_swap")
        .assert_stdout("\n  balance of account on base\n    − unchanged\n    + ");
    ran.assert_stdout("\nscores\n").assert_stdout("\ndifferent: ");
    let document = folder.json(&["show", CASE, "--diff", &reference, &reference], 0);
    assert!(document["calls"].as_array().unwrap().iter().all(|call| call["is"] == "same"), "{document:#}");
    assert_eq!((&document["effects"], &document["scores"]), (&json!([]), &json!([])));
}

#[test]
fn show_diff_compares_arguments_by_meaning() {
    let folder = TestFolder::new();
    folder.run(&["run", "--subject", "reference", "--suite", "behavior"]).assert_exit(0);
    let cases: Vec<String> = crate::harness::column(&folder.list("cases"), "case");
    let (one, other) = (CASE, cases.iter().find(|case| *case != CASE && folder.run(&["show", case]).code == Some(0)).unwrap());
    let document = folder.json(&["show", "--diff", one, other], 0);
    let kinds: Vec<&str> = document["calls"].as_array().unwrap().iter().map(|call| call["is"].as_str().unwrap()).collect();
    assert!(kinds.iter().any(|kind| *kind != "same"), "{document:#}");
    folder.run(&["show", "--diff", one, one]).assert_exit(2).assert_stderr("has only one trial of");
}

#[test]
fn show_tree_lists_each_delegation() {
    let folder = TestFolder::with_minimal();
    let file = "evals/suites/composition/desk_to_trader.yaml";
    let text = folder.read(file);
    let (head, _) = text.split_once("    reference:\n").unwrap();
    let steps = "    reference:
      - { agent: desk, delegate: trader, params: { amount: \"100\" } }
      - { agent: trader, call: wallet_get_balance, args: { token: USDC, chain: base } }
      - { agent: trader, say: One. }
      - { agent: desk, delegate: trader, params: { amount: \"100\" } }
      - { agent: trader, say: Two. }
      - { agent: desk, say: Done. }
";
    folder.write(file, format!("{head}{steps}"));
    folder.run(&["run", "--subject", "reference", "--case", "desk_hands_a_swap_over"]);
    let shown = folder.run(&["show", "desk_hands_a_swap_over"]).assert_exit(0).stdout;
    let tree: Vec<&str> = shown.lines().skip_while(|line| !line.starts_with("desk  #")).collect();
    assert_eq!(tree, ["desk  #2 to #8, no calls", "├─ trader  #2 to #5, 1 call", "└─ trader  #6 to #7, no calls"], "{shown}");
}

#[test]
fn show_amounts_use_token_decimals() {
    let folder = TestFolder::with_minimal();
    folder.edit("evals/worlds/small.yaml", "token: USDC, amount: \"1000\"", "token: USDC, amount: \"1000.5\"");
    folder.edit(
        "evals/worlds/small.yaml",
        "balances:\n",
        "balances:\n  - { chain: 8453, token: WETH, amount: \"0.000000000000000001\" }\n",
    );
    let text = folder.run(&["world", "show"]).assert_exit(0).stdout;
    let row = |asset: &str| text.lines().find(|line| line.contains("account") && line.contains(asset)).unwrap_or_else(|| panic!("{text}"));
    assert!(
        row(" USDC ").ends_with(" 1000.5") && row(" WETH ").ends_with(" 0.000000000000000001") && row(" ETH ").ends_with(" 1"),
        "{text}"
    );
}

/// Three scores of one measure are noise beside each call; they are shown with `--verbose` and in JSON.
#[test]
fn show_hides_the_f1_scores_without_verbose() {
    let (folder, _, _) = two_runs();
    let short = folder.run(&["show", CASE]).assert_exit(0).assert_stdout("argument_match").stdout;
    assert!(!short.contains("tool_call_f1"), "{short}");
    let long = folder.run(&["show", CASE, "--verbose"]).assert_exit(0).stdout;
    for scorer in ["tool_call_f1 ", "tool_call_f1_multiset ", "tool_call_f1_ordered "] {
        assert!(long.matches(scorer).count() >= 2, "beside the event and in the table: {long}");
    }
    let scores = folder.json(&["show", CASE], 0)["scores"].to_string();
    assert!(scores.contains("tool_call_f1_ordered"), "{scores}");
}
