//! `compare`, `run --against`, several subjects side by side, and `run --changed`.

use crate::harness::{ProgramOutput, TestFolder};
use serde_json::Value;
use std::process::Command;

/// Runs a subject and returns the id of the run.
fn stored_run(folder: &TestFolder, args: &[&str]) -> String {
    let file = folder.path("run.id");
    folder.run(&[&["run", "--run-id-file", "run.id"], args].concat());
    assert!(file.exists(), "the run did not start");
    folder.read("run.id").trim().to_owned()
}

fn assert_fits_screen(ran: &ProgramOutput, lines: usize) {
    assert!(ran.stdout.lines().count() <= lines, "{} lines:\n{}", ran.stdout.lines().count(), ran.stdout);
    let wide: Vec<&str> = ran.stdout.lines().filter(|line| line.chars().count() > 80 && !line.contains("bardo-eval ")).collect();
    assert!(wide.is_empty(), "{wide:#?}");
}

#[test]
fn equal_runs_are_tied() {
    let folder = TestFolder::with_minimal();
    let (first, second) = (stored_run(&folder, &["--subject", "reference"]), stored_run(&folder, &["--subject", "reference"]));
    folder.run(&["compare", &first, &second]).assert_exit(0).assert_stdout("TIED  reference: run").assert_stdout("0 worse, 0 better");
    let document = folder.json(&["compare", &first], 0);
    let compared = &document["comparisons"][0];
    assert_eq!((&compared["verdict"], &compared["deterministic"]), (&"tied".into(), &true.into()), "{document:#}");
    assert_eq!((&compared["before"]["run"], &compared["after"]["run"]), (&first.as_str().into(), &second.as_str().into()));
}

#[test]
fn worse_subject_is_a_regression_with_causes() {
    let folder = TestFolder::with_minimal();
    let good = stored_run(&folder, &["--subject", "reference"]);
    let bad = stored_run(&folder, &["--subject", "echo"]);
    let ran = folder.run_with_variable(&["compare", &good, &bad], "COLUMNS", "80").assert_exit(1);
    let ran = ran.assert_stdout("REGRESSION  reference in run").assert_stdout("cases passed").assert_stdout("worse, by cause");
    let ran = ran.assert_stdout(&format!("--diff {good} {bad}")).assert_stdout("time per trial");
    assert_fits_screen(&ran, 40);
    // The command that a flipped case names works.
    let document = folder.json(&["compare", &good, &bad], 1);
    let show = document["comparisons"][0]["flips"][0]["cases"][0]["show"].as_str().unwrap().to_owned();
    let words: Vec<&str> = show.split(' ').skip(1).collect();
    folder.run(&words).assert_exit(0);
    // The other way round it is an improvement.
    folder.run(&["compare", &bad, &good]).assert_exit(0).assert_stdout("IMPROVEMENT");
    folder.run(&["compare", &format!("{good}@echo")]).assert_exit(2).assert_stderr("has no subject \"echo\"");
    folder.run(&["compare", "ffffffff"]).assert_exit(2).assert_stderr("there is no run");
}

#[test]
fn comparison_markdown_has_ten_lines_before_the_fold() {
    let folder = TestFolder::with_minimal();
    let (good, bad) = (stored_run(&folder, &["--subject", "reference"]), stored_run(&folder, &["--subject", "echo"]));
    let ran = folder.run(&["compare", &good, &bad, "--format", "markdown"]).assert_exit(1);
    let (head, folded) = ran.stdout.split_once("<details>").unwrap();
    assert!(head.trim_end().lines().count() <= 10, "{head}");
    assert!(head.starts_with("### regression: reference in run") && head.contains("**regression**"), "{head}");
    assert!(folded.contains("bardo-eval show") && folded.trim_end().ends_with("</details>"), "{folded}");
}

#[test]
fn cases_of_one_run_only_are_incomplete() {
    let folder = TestFolder::with_minimal();
    let first = stored_run(&folder, &["--subject", "reference", "--suite", "behavior"]);
    let second = stored_run(&folder, &["--subject", "reference", "--suite", "skills"]);
    folder.run(&["compare", &first, &second]).assert_exit(3).assert_stdout("NOT ENOUGH DATA").assert_stdout("only before");
}

#[test]
fn fail_on_any_counts_single_cases() {
    let folder = TestFolder::with_minimal();
    let good = stored_run(&folder, &["--subject", "reference"]);
    folder.run(&["run", "--subject", "reference", "--against", &good, "--fail-on", "any"]).assert_exit(0).assert_stdout("TIED");
    folder.run(&["run", "--subject", "echo", "--against", &good, "--fail-on", "any"]).assert_exit(1).assert_stdout("REGRESSION");
    folder.run(&["run", "--subject", "echo", "--against", "ffffffff"]).assert_exit(2).assert_stderr("there is no run");
    let document = folder.json(&["run", "--subject", "echo", "--against", &good], 1);
    assert_eq!(document["comparisons"][0]["verdict"], "regression");
    let ran = folder.run(&["run", "--subject", "echo", "--against", &good, "--format", "markdown"]).assert_exit(1);
    assert!(ran.stdout.starts_with("### regression"), "{}", ran.stdout);
}

#[test]
fn verdicts_are_messages_beside_a_report_in_a_file() {
    let folder = TestFolder::with_minimal();
    folder.run(&["smoke", "-o", "smoke.txt"]).assert_exit(0).assert_stderr("smoke passed: ");
    let (good, bad) = (stored_run(&folder, &["--subject", "reference"]), stored_run(&folder, &["--subject", "echo"]));
    folder.run(&["compare", &good, &bad, "-o", "compared.txt"]).assert_exit(1).assert_stderr("REGRESSION  reference in run");
    let ran = folder.run(&["run", "--subject", "echo", "--against", &good, "--format", "json", "-o", "run.json"]).assert_exit(1);
    drop(ran.assert_stderr("FAILED  echo: ").assert_stderr("report in run.json").assert_stderr("REGRESSION  reference in run"));
}

#[test]
fn the_next_command_shows_a_case_that_got_worse() {
    let folder = TestFolder::with_minimal();
    let good = stored_run(&folder, &["--subject", "reference"]);
    let ran = folder.run(&["run", "--subject", "echo", "--against", &good]).assert_exit(1);
    let next = ran.stdout.lines().find_map(|line| line.strip_prefix("next: bardo-eval ")).unwrap_or_default();
    assert!(next.starts_with("show ") && next.contains(&format!(" --diff {good} ")), "{}", ran.stdout);
}

#[test]
fn the_first_line_of_a_compared_run_is_its_own_verdict() {
    let folder = TestFolder::with_minimal();
    let other = stored_run(&folder, &["--subject", "reference", "--suite", "behavior"]);
    let skills = ["run", "--subject", "reference", "--suite", "skills", "--no-store"];
    let alone = folder.run(&skills);
    let compared = folder.run(&[&skills[..], &["--against", &other]].concat()).assert_exit(3).assert_stdout("NOT ENOUGH DATA  reference");
    assert_eq!(compared.stdout.lines().next(), alone.stdout.lines().next());
}

#[test]
fn several_subjects_end_in_the_table() {
    let folder = TestFolder::with_minimal();
    let ran = folder.run(&["run", "--subject", "reference", "--subject", "echo"]).assert_exit(1);
    let ran = ran.assert_stdout("REGRESSION  reference → echo in run").assert_stdout("bardo-eval show --diff");
    drop(ran);
    // The gates alone decide the exit: none of the subjects is the earlier one.
    let document = folder.json(&["run", "--subject", "reference", "--subject", "reference", "--subject", "echo"], 1);
    assert_eq!(document["comparisons"].as_array().map(Vec::len), Some(1));
}

#[test]
fn golden_baselines_are_a_side() {
    let folder = TestFolder::with_minimal();
    folder.run(&["compare", "golden"]).assert_exit(2).assert_stderr("the workspace has no baseline");
    folder.run(&["golden", "update", "--run-first", "--subject", "reference"]).assert_exit(0);
    folder.run(&["compare", "golden"]).assert_exit(0).assert_stdout("TIED  reference: golden → run");
    // Baselines know whether cases passed, so that gates on it are compared by slice.
    let report = folder.json(&["compare", "golden"], 0);
    let slices = report["comparisons"][0]["slices"].as_array().unwrap();
    assert!(slices.iter().any(|slice| slice["gate"] == "case_pass_rate" && slice["before"] == 1.0), "{report:#}");
    folder.run(&["run", "--subject", "reference", "--against", "golden"]).assert_exit(0).assert_stdout("golden → run");
    folder.run(&["run", "--subject", "echo", "--against", "golden"]).assert_exit(2).assert_stderr("no subject in common");
    folder.run(&["run", "--subject", "echo", "--against", "golden@reference"]).assert_exit(1).assert_stdout("REGRESSION");
}

const TOOL_FILE: &str = "evals/tools/wallet.yaml";
const BALANCE: &str = "Balance of one token held by the agent's own wallet on one chain, in whole tokens; it moves nothing.";

#[test]
fn changed_cases_are_selected_since_a_run() {
    let folder = TestFolder::with_minimal();
    let first = stored_run(&folder, &["--subject", "reference"]);
    let same = ["run", "--subject", "reference", "--changed", "--against", &first];
    folder.run(&same).assert_exit(3).assert_stderr("no tool, agent, skill, policy or case changed; nothing was run");
    folder.edit(TOOL_FILE, BALANCE, "Balance of one token on one chain.");
    let ran = folder.run(&same).assert_stdout("changed: tool wallet_get_balance; ").assert_stdout("left out").assert_stdout("only before");
    drop(ran.assert_exit(0));
    let document = folder.json(&["run", "--subject", "reference", "--changed", &first], 0);
    assert_eq!(document["changed_parts"]["parts"]["tool"], serde_json::json!(["wallet_get_balance"]), "{document:#}");
    let (selected, left_out) =
        (document["changed_parts"]["cases"].as_array().unwrap().len() as u64, &document["changed_parts"]["left_out"]);
    assert_eq!(document["trials"]["planned"].as_u64(), Some(selected));
    assert!(left_out.as_u64() > Some(0), "{document:#}");
    folder.run(&["run", "--changed", "--case", "how_much_usdc"]).assert_exit(2);
}

/// A tool may take cases from tools that it did not resemble, so that a verdict on its own cases alone would hide what got worse.
#[test]
fn verdict_on_changed_cases_covers_or_counts_those_that_show_the_tool() {
    let folder = TestFolder::with_minimal();
    let first = stored_run(&folder, &["--subject", "baseline"]);
    folder.edit(TOOL_FILE, "Exchanges one token for another on the deepest pool.", "How many dollars in USDC do I have left on Base?");
    let verdict = |extra: &[&str]| {
        let args = [&["run", "--subject", "baseline", "--no-store", "--against", &first, "--format", "json"], extra].concat();
        let ran = folder.run(&args);
        serde_json::from_str::<Value>(&ran.stdout).unwrap()
    };
    let (all, changed) = (verdict(&[]), verdict(&["--changed"]));
    assert_eq!(changed["comparisons"][0]["verdict"], all["comparisons"][0]["verdict"], "{changed:#}");
    let selected = changed["changed_parts"]["cases"].as_array().unwrap();
    assert!(selected.contains(&serde_json::json!({ "case": "how_much_usdc", "why": "shown" })), "{changed:#}");
    assert_eq!(changed["changed_parts"]["left_out_showing"], 0);
    // Trials of an agent may cost something: the cases are counted.
    let agent = ["run", "--subject", "process:cat", "--changed", &first, "--dry-run"];
    let ran = folder.run(&agent).assert_exit(0).assert_stderr("do not expect it were left out (");
    drop(ran.assert_stderr("run without --changed plays them all"));
    let agent = ["run", "--subject", "process:cat", "--no-preflight", "--no-store", "--changed", "--against", &first];
    folder.run(&agent).assert_stdout(", without ").assert_stdout(" what changed\n").assert_stdout("cases that show a changed tool");
}

#[test]
fn changed_cases_are_selected_since_a_git_revision() {
    let folder = TestFolder::with_minimal();
    folder.run(&["run", "--changed"]).assert_exit(2).assert_stderr("no files of evals at \"HEAD\"");
    let git = |args: &[&str]| {
        let identity = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"];
        let ran = Command::new("git").arg("-C").arg(folder.path("")).args(identity).args(args).output().unwrap();
        assert!(ran.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&ran.stderr));
    };
    git(&["init", "-q"]);
    git(&["add", "-A"]);
    git(&["commit", "-q", "-m", "first"]);
    folder.run(&["run", "--subject", "reference", "--changed"]).assert_exit(3).assert_stderr("nothing was run");
    folder.edit(TOOL_FILE, BALANCE, "Balance of one token on one chain.");
    let ran = folder.run(&["run", "--subject", "reference", "--changed", "--dry-run"]).assert_exit(0);
    ran.assert_stderr("changed: tool wallet_get_balance; ").assert_stderr("left out");
    git(&["commit", "-aqm", "second"]);
    folder.run(&["run", "--changed"]).assert_exit(3);
    folder.run(&["run", "--subject", "reference", "--changed", "HEAD~1", "--dry-run"]).assert_exit(0).assert_stderr("wallet_get_balance");
    folder.run(&["run", "--changed", "no-such-branch"]).assert_exit(2).assert_stderr("no files of evals at \"no-such-branch\"");
    folder.run(&["run", "--changed=--output=x"]).assert_exit(2).assert_stderr("is not a git revision");
}

/// Cases whose results changed, and the tools that were taken for others.
fn flips(document: &Value) -> (usize, Vec<String>) {
    let groups = document["comparisons"][0]["flips"].as_array().unwrap();
    let cases = groups.iter().map(|group| group["cases"].as_array().unwrap().len()).sum();
    let tools = groups.iter().filter(|group| group["cause"]["kind"] == "tool");
    (cases, tools.map(|group| format!("{} for {}", group["cause"]["called"], group["cause"]["expected"]).replace('"', "")).collect())
}

#[test]
fn damaged_description_is_named_with_cases_and_pair() {
    let folder = TestFolder::with_reference();
    let tool = "data_get_portfolio_snapshot";
    let file = folder.read("evals/tools/data.yaml");
    let (head, rest) = file.split_once(&format!("  - name: {tool}\n    description: >-\n")).unwrap();
    let (_, tail) = rest.split_once("    capability:").unwrap();
    folder.write("evals/tools/data.yaml", format!("{head}  - name: {tool}\n    description: Returns data.\n    capability:{tail}"));
    let args = ["run", "--subject", "baseline", "--suite", "tool_selection", "--changed", "--against", "golden", "--no-store"];
    let ran = folder.run_with_variable(&args, "COLUMNS", "80").assert_exit(1);
    assert_fits_screen(&ran, 40);
    let document = folder.json(&args, 1);
    let (cases, pairs) = flips(&document);
    assert!(cases > 0 && pairs.iter().any(|pair| pair.ends_with(&format!("for {tool}"))), "{cases} {pairs:?}");
    let ran = ran.assert_stdout("REGRESSION").assert_stdout(&format!("changed: tool {tool}; ")).assert_stdout(&format!("for {tool}"));
    let first = document["comparisons"][0]["flips"][0]["cases"][0]["case"].as_str().unwrap();
    drop(ran.assert_stdout(first).assert_stdout("left out"));
}
