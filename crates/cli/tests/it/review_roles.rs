//! Guardian and assessor are found by `serves`, not by name.

use crate::harness::TestFolder;
use serde_json::Value;

const NAMES: &[(&str, &str)] = &[("safety-guardian", "write-gatekeeper"), ("risk-assessor", "deal-reviewer")];

fn renamed(text: &str) -> String {
    NAMES.iter().fold(text.to_owned(), |text, (old, new)| text.replace(old, new))
}

/// Renames guardian and assessor in every file name and text of `evals/`.
fn rename_reviewers(folder: &TestFolder) {
    for name in folder.files() {
        let text = folder.read(&name);
        if renamed(&name) != name {
            std::fs::remove_file(folder.path(&name)).unwrap();
        }
        folder.write(&renamed(&name), renamed(&text));
    }
}

/// Returns gate, slice, numbers and verdict of each row, sorted.
fn verdicts(document: &Value) -> Vec<String> {
    let shown = ["gate", "slice", "value", "low", "high", "n", "cases", "verdict"];
    let row = |verdict: &Value| shown.map(|key| renamed(&verdict[key].to_string())).join(" ");
    let mut rows: Vec<String> = document["verdicts"].as_array().unwrap().iter().map(row).collect();
    rows.sort();
    rows
}

#[test]
fn renamed_guardian_and_assessor_give_the_same_verdicts() {
    let (original, other) = (TestFolder::with_reference(), TestFolder::with_reference());
    rename_reviewers(&other);
    assert!(other.files().iter().any(|name| name == "evals/agents/write-gatekeeper.md"));
    let ran = other.run(&["smoke"]).assert_exit(0);
    assert!(ran.stderr.is_empty(), "{}", ran.stderr);
    for (subject, exit) in [("reference", 0), ("echo", 1)] {
        let args = ["run", "--no-store", "--subject", subject];
        let (before, after) = (original.json(&args, exit), other.json(&args, exit));
        assert!(verdicts(&before).len() > 40, "{}", verdicts(&before).len());
        assert_eq!(verdicts(&before), verdicts(&after), "{subject}");
    }
}

#[test]
fn guardian_by_legacy_name_works_with_a_warning() {
    let (current, older) = (TestFolder::with_minimal(), TestFolder::with_minimal());
    let file = "evals/agents/safety-guardian.md";
    older.edit(file, "serves: guardian\n", "");
    let warning =
        "warning: evals/agents/safety-guardian.md:2  safety-guardian serves as guardian because of its name alone; add serves: guardian";
    older.run(&["list", "agents"]).assert_exit(0).assert_stderr(warning);
    let args = ["run", "--no-store", "--subject", "reference"];
    assert_eq!(verdicts(&current.json(&args, 0)), verdicts(&older.json(&args, 0)));
}

#[test]
fn two_guardians_are_refused() {
    let folder = TestFolder::with_minimal();
    let line = folder.edit("evals/agents/trader.md", "terminal: false\n", "terminal: false\nserves: guardian\n");
    let what = format!("evals/agents/trader.md:{line}  trader serves as guardian, and so does safety-guardian");
    folder.run(&["smoke"]).assert_exit(2).assert_stderr(&what);
}
