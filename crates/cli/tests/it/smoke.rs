//! `smoke` on valid workspaces.

use crate::harness::{TestFolder, column};
use serde_json::Value;

#[test]
fn smoke_of_embedded_passes_and_is_deterministic() {
    let folder = TestFolder::new();
    for format in ["text", "json", "junit", "markdown"] {
        let first = folder.run(&["smoke", "--embedded", "--format", format]).assert_exit(0);
        let second = folder.run(&["smoke", "--embedded", "--format", format]).assert_exit(0);
        assert_eq!(first.stdout, second.stdout, "{format}");
        assert!(!first.stdout.is_empty() && first.stderr.is_empty() && second.stderr.is_empty(), "{format}: {}", first.stderr);
    }
    assert!(folder.files().is_empty(), "smoke left files behind");
}

/// Most of it are the compiled patterns of 1,714 cases, and the pages of a debug build.
#[test]
fn smoke_memory_is_bounded() {
    let ran = TestFolder::new().run(&["smoke"]).assert_exit(0);
    assert!(ran.peak_mb.is_none_or(|peak| peak < 200), "{:?} MB", ran.peak_mb);
}

#[test]
fn smoke_json_has_the_documented_keys() {
    let folder = TestFolder::new();
    let document = folder.json(&["smoke"], 0);
    let keys: Vec<&str> = document.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(
        keys,
        ["format", "command", "workspace", "checks", "verdicts", "metrics", "deviations", "waivers", "trials", "spent_usd", "exit"]
    );
    assert_eq!((&document["format"], &document["command"]), (&Value::from(1), &Value::from("smoke")));
    assert_eq!(document["trials"], serde_json::json!({ "planned": 0, "finished": 0, "aborted": 0 }));
    let checks = document["checks"].as_array().unwrap();
    assert_eq!(column(checks, "check"), column(&folder.list("checks"), "check"), "every check ran, in the order of the list");
    for check in checks {
        assert_eq!(check["errors"], 0, "{check:#}");
        assert_eq!(check["warnings"], check["findings"].as_array().unwrap().len(), "{check:#}");
    }
}

#[test]
fn every_check_looks_at_something() {
    let document = TestFolder::new().json(&["smoke"], 0);
    for check in document["checks"].as_array().unwrap() {
        // The reference workspace has no imported tools and no waivers.
        if check["check"] != "pinned_tools" && check["check"] != "waivers" {
            assert!(check["looked_at"].as_u64() > Some(0), "{check:#}");
        }
    }
}

#[test]
fn smoke_fuzz_passes_with_another_seed() {
    for seed in ["2", "0", "18446744073709551615"] {
        let ran = TestFolder::new().run(&["smoke", "--embedded", "--seed", seed]).assert_exit(0);
        assert!(ran.stderr.is_empty(), "{}", ran.stderr);
    }
}

#[test]
fn smoke_of_a_copy_equals_smoke_of_embedded() {
    let (copy, empty) = (TestFolder::with_reference(), TestFolder::new());
    let strip = |text: String| text.replace("evals/", "").replace("workspace evals:", "workspace embedded:");
    let of_copy = strip(copy.run(&["smoke"]).assert_exit(0).stdout);
    assert_eq!(of_copy, empty.run(&["smoke"]).assert_exit(0).stdout);
    // The folder is found by default and by name, and ignored with --embedded.
    assert_eq!(strip(copy.run(&["smoke", "--workspace", "evals"]).stdout), of_copy);
    assert_eq!(copy.run(&["smoke", "--embedded"]).stdout, of_copy);
}

#[test]
fn smoke_of_minimal_workspace_passes() {
    let folder = TestFolder::with_minimal();
    folder.run(&["smoke"]).assert_exit(0).assert_stdout("smoke passed");
    let ran = folder.run(&["run", "--subject", "reference"]).assert_exit(0);
    assert!(ran.stdout.contains("0 missed, 0 without evidence"), "{}", ran.stdout);
}

#[test]
fn smoke_text_lists_failures_before_counts() {
    let folder = TestFolder::with_reference();
    let line = folder.edit("evals/gates.yaml", "scorer: disambiguation", "scorer: disambigution");
    let text = folder.run(&["smoke"]).assert_exit(1).stdout;
    let finding = format!("  evals/gates.yaml:{line}  scorer \"disambigution\" does not exist; did you mean \"disambiguation\"?\n");
    assert!(text.starts_with(&format!("error gates_measured\n{finding}")), "{text}");
    let closing = text.lines().find(|line| line.starts_with("smoke failed: ")).expect("a closing line");
    let counts: Vec<usize> = closing.split([' ', ',']).filter_map(|word| word.parse().ok()).collect();
    assert_eq!(counts[0] + 1, counts[1], "one check of all failed: {closing}");
}
