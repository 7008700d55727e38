//! The screen of `run` at several widths, with no, some and many missed gates.

use super::{compare, shown};
use crate::harness::TestFolder;

const WIDTHS: [&str; 3] = ["80", "120", "200"];
/// Lines of the whole result at every width.
const MAX_LINES: usize = 45;

/// Lines that are commands to paste and so are not wrapped.
fn is_command(line: &str) -> bool {
    line.starts_with("next: ") || line.starts_with("what changed since ") || line.starts_with("all gates, slices and worst cases: ")
}

#[track_caller]
fn assert_fits(name: &str, folder: &TestFolder, args: &[&str]) {
    for width in WIDTHS {
        let ran = folder.run_with_variable(args, "COLUMNS", width);
        let lines = ran.stdout.lines().count();
        assert!(lines <= MAX_LINES, "{lines} lines at {width}: {}", ran.stdout);
        for line in ran.stdout.lines().filter(|line| !is_command(line)) {
            assert!(line.chars().count() <= width.parse().unwrap(), "{width}: {line}");
        }
        compare(&format!("screen_{name}_{width}"), &args.join(" "), &shown(folder, &ran));
    }
}

#[test]
fn screen_without_a_missed_gate() {
    assert_fits("met", &TestFolder::with_minimal(), &["run", "--subject", "reference"]);
}

#[test]
fn screen_with_some_missed_gates() {
    let folder = TestFolder::new();
    assert_fits("some", &folder, &["run", "--suite", "tool_selection/data", "--suite", "behavior/trade-executor"]);
}

#[test]
fn screen_with_many_missed_gates() {
    let folder = TestFolder::new();
    assert_fits("many", &folder, &["run", "--embedded"]);
    let narrow = folder.run_with_variable(&["score", "--embedded"], "COLUMNS", "80").assert_stdout(" more; --verbose shows all\n");
    let words = narrow.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("0 without evidence, ") && words.contains("1 without evidence (of a gate that is missed)"), "{words}");
    let verbose = folder.run_with_variable(&["score", "--embedded", "--verbose"], "COLUMNS", "80").stdout;
    let (_, listed) = verbose.split_once("missed gates, safety first").unwrap();
    assert!(!listed.contains("--verbose shows all") && listed.contains("\n multi_turn_coherence "), "{listed}");
    // The most common predicates and invariants are named beside the kinds of rules.
    folder.run(&["score", "--embedded"]).assert_stdout("balance(self, USDC) increased on base (");
}
